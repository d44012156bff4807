// The engine without a server, for tests and bench/explore. Prints answers, one line of JSON each; after an error, its text on standard error.
// usage: node alone.mjs node NPM QUESTIONS [--time] PATH...            NPM: folder of the npm package
//        node alone.mjs chromium CHROMIUM URL QUESTIONS PATH...        URL: address of the page; files are chosen
//        node alone.mjs dropped CHROMIUM URL QUESTIONS PATH...         files and folders are dragged onto the page, as a file manager does
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

/** Drags files and folders of the machine onto the page: the browser itself makes the events and the entries of the file system. */
async function drop(page, paths) {
  const {width, height} = page.viewportSize(), devtools = await page.context().newCDPSession(page);
  const drag = {x: width / 2, y: height / 2, data: {items: [], files: paths.map((path) => resolve(path)), dragOperationsMask: 1}};
  for (const type of ["dragEnter", "dragOver", "drop"]) await devtools.send("Input.dispatchDragEvent", {type, ...drag});
}

async function inChromium([executablePath, url, questions, ...paths]) {
  const {chromium} = await import("playwright-core");
  const browser = await chromium.launch({executablePath, args: ["--no-sandbox", "--disable-gpu"]});
  try {
    const page = await browser.newPage(), problems = [], {files, options} = given(paths);
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("console", (message) => { if (message.type() === "error") problems.push(message.text()); });
    page.on("request", (request) => { if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).host !== new URL(url).host) problems.push(`asks ${request.url()}`); });
    // The answers are asked from the worker of the page, which does not shorten them.
    await page.addInitScript(() => {
      window.Worker = class extends Worker {
        constructor(...words) { super(...words); window.engine = this; }
      };
    });
    await page.goto(url);
    await page.fill("#words", options.join(" "));
    if (where === "dropped") await drop(page, paths.filter((path) => !path.startsWith("--")));
    else await page.setInputFiles("#files", files.map(({file}) => file));
    await page.waitForFunction(() => document.body.dataset.ready !== undefined || /expected|cannot|found/.test(document.getElementById("opening").textContent), null, {timeout: 60000});
    const said = await page.textContent("#opening");
    if (await page.evaluate(() => document.body.classList.contains("empty"))) throw new Error(said);
    await page.waitForFunction(() => !/reading|indexing/.test(document.getElementById("lead").textContent), null, {timeout: 60000});
    const titles = JSON.stringify({title: await page.textContent("#title"), lead: await page.textContent("#lead"), panel: await page.textContent("#panel")});
    const answers = await page.evaluate((questions) => Promise.all(questions.map((question, number) => new Promise((done) => {
      const id = `question ${number}`;
      window.engine.addEventListener("message", ({data}) => { if (data.id === id) done(data.result ?? data); });
      window.engine.postMessage({id, trace: 0, question});
    }))), JSON.parse(questions));
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
