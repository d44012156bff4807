// The engine without a server, for tests and bench/explore. Prints answers, one line of JSON each; after an error, its text on standard error.
// usage: node alone.mjs node NPM QUESTIONS [--time] PATH...            NPM: folder of the npm package
//        node alone.mjs chromium CHROMIUM URL QUESTIONS PATH...        URL: address of the page
// QUESTIONS is a JSON array; PATH is a file or a folder, or an option of `ntrace explore`.
import {readdirSync, readFileSync, statSync} from "node:fs";
import {basename, dirname, join, relative, resolve} from "node:path";
import {pathToFileURL} from "node:url";

const [where, ...words] = process.argv.slice(2);

function filesOf(path) {
  if (!statSync(path).isDirectory()) return [{path: basename(path), file: resolve(path)}];
  const root = dirname(resolve(path)), names = readdirSync(path, {recursive: true}).map((name) => join(resolve(path), name));
  return names.filter((name) => statSync(name).isFile()).map((name) => ({path: relative(root, name), file: name}));
}
const given = (paths) => ({files: paths.filter((path) => !path.startsWith("--")).flatMap(filesOf), options: paths.filter((path) => path.startsWith("--"))});

async function inNode([npm, questions, ...paths]) {
  const timed = paths[0] === "--time", {files, options} = given(timed ? paths.slice(1) : paths);
  const {load, traces} = await import(pathToFileURL(join(npm, "index.js")));
  const engine = await load(), [{files: found, words: all}] = await traces(files.map(({path, file}) => ({path, data: readFileSync(file)})), options);
  const trace = await engine.open(found, all), begun = process.cpuUsage();
  while (!trace.work());
  if (timed) console.log(JSON.stringify({milliseconds: Math.round(process.cpuUsage(begun).user / 1000), memory: Math.round(process.memoryUsage().rss / 2 ** 20)}));
  for (const question of JSON.parse(questions)) console.log(trace.askText(JSON.stringify(question)));
}

async function inChromium([executablePath, url, questions, ...paths]) {
  const {chromium} = await import("playwright-core");
  const browser = await chromium.launch({executablePath, args: ["--no-sandbox", "--disable-gpu"]});
  try {
    const page = await browser.newPage(), problems = [], {files, options} = given(paths);
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("console", (message) => { if (message.type() === "error") problems.push(message.text()); });
    page.on("request", (request) => { if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).host !== new URL(url).host) problems.push(`asks ${request.url()}`); });
    await page.goto(url);
    await page.fill("#words", options.join(" "));
    await page.setInputFiles("#files", files.map(({file}) => file));
    await page.waitForFunction(() => document.body.dataset.ready !== undefined || /expected|cannot|found/.test(document.getElementById("opening").textContent), null, {timeout: 60000});
    const said = await page.textContent("#opening");
    if (await page.evaluate(() => document.body.classList.contains("empty"))) throw new Error(said);
    await page.waitForFunction(() => !/reading|indexing/.test(document.getElementById("lead").textContent), null, {timeout: 60000});
    const titles = JSON.stringify({title: await page.textContent("#title"), lead: await page.textContent("#lead"), panel: await page.textContent("#panel")});
    // The same files in a worker of its own, whose answers the page does not shorten.
    const answers = await page.evaluate(async ({questions, options}) => {
      const worker = new Worker("worker.js", {type: "module"}), waiting = new Map();
      worker.onmessage = ({data}) => waiting.get(data.id)(data);
      const send = (request) => new Promise((done) => { const id = waiting.size; waiting.set(id, done); worker.postMessage({id, ...request}); });
      const files = [...document.getElementById("files").files].map((file) => ({path: file.name, data: file}));
      const opened = await send({open: files, words: options});
      if (opened.error) return [opened];
      while (!(await send({trace: 0, question: {query: "about"}})).result.complete);
      const all = [];
      for (const question of questions) all.push((await send({trace: 0, question})).result);
      return all;
    }, {questions: JSON.parse(questions), options});
    if (problems.length) throw new Error(problems.join("; "));
    console.log(titles);
    for (const answer of answers) console.log(JSON.stringify(answer));
  } finally {
    await browser.close();
  }
}

try {
  await (where === "node" ? inNode : inChromium)(words);
} catch (problem) {
  console.error(problem.message);
  process.exitCode = 1;
}
