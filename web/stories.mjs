// Drives the page in Chromium, as a user does. usage: node stories.mjs FILE
// FILE is JSON: {"chromium": path, "one": url, "two": url of two traces, "gaps": url, "traps": url, "calls": url, "crash": url, "hostile": url, "shots": folder or null}.
// Prints one line of JSON for each story: its name, and the error if it failed.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {join} from "node:path";
import {chromium} from "playwright-core";

const setup = JSON.parse(readFileSync(process.argv[2], "utf8"));
const browser = await chromium.launch({executablePath: setup.chromium, args: ["--no-sandbox", "--disable-gpu"]});
const stories = [];
const story = (name, url, run, context = {}) => stories.push({name, url, run, context});

/** Waits until the page has drawn what the last key asked for. */
async function settled(page, act = async () => {}) {
  const before = await page.evaluate(() => document.body.dataset.ready);
  await act();
  await page.waitForFunction((old) => document.body.dataset.ready !== undefined && document.body.dataset.ready !== old, before);
}
const indexed = (page) => page.waitForFunction(() => !/reading|indexing/.test(document.getElementById("lead").textContent));
const state = (page) => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
const find = async (page, text) => settled(page, async () => { await page.fill("#text", text); await page.press("#text", "Enter"); });
const panel = (page) => page.textContent("#panel");
const here = (page) => page.textContent("#panel tr.here");
async function shot(page, name) {
  if (setup.shots) await page.screenshot({path: join(setup.shots, name), fullPage: true});
}

story("open: the title, the number of instructions, and a drawing that is not empty", setup.one, async (page) => {
  assert.match(await page.textContent("#title"), /story.*ntrace/);
  assert.match((await page.textContent("#lead")).replaceAll("\u202f", ""), /^\d{5,} instructions, 1 hart/);
  for (const id of ["overview", "slices"])
    assert.ok(await page.$eval(`#${id}`, (canvas) => new Set(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data).size > 8), id);
});
story("search: from a name to its first execution, its source and its call stack", setup.one, async (page) => {
  await find(page, "sum_of");
  assert.match(await here(page), /sum_of/);
  assert.match(await panel(page), /while \(\*text\)/);
  assert.match(await panel(page), /Call stack[^]*sum_of[^]*work[^]*main/);
  await shot(page, "explore-code.png");
});
story("next and previous execution", setup.one, async (page) => {
  await find(page, "sum_of");
  const first = Number((await state(page)).at);
  await settled(page, () => page.keyboard.press("n"));
  const second = Number((await state(page)).at);
  await settled(page, () => page.keyboard.press("p"));
  assert.ok(second > first);
  assert.equal(Number((await state(page)).at), first);
});
story("when was this line executed before here", setup.one, async (page) => {
  await find(page, "sum_of");
  await settled(page, () => page.keyboard.press("n"));
  const at = Number((await state(page)).at);
  await settled(page, () => page.keyboard.press("l"));
  assert.ok(Number((await state(page)).at) < at);
  assert.match(await here(page), /sum_of/);
});
story("a crash: the last instruction, who called it, and who did so before", setup.crash, async (page) => {
  const callers = () => page.$$eval("#panel table", (list) => list.filter((table) => /Call stack/.test(table.caption.textContent)).flatMap((table) => [...table.tBodies[0].rows].map((row) => row.cells[0].textContent.trim())));
  await settled(page, () => page.keyboard.press("End"));
  assert.match(await here(page), /store.*crash\.c:2$/);
  assert.deepEqual((await callers()).slice(0, 3), ["store", "bad", "main"]);
  await settled(page, () => page.keyboard.press("l"));
  assert.deepEqual((await callers()).slice(0, 3), ["store", "good", "main"]);
  await settled(page, () => page.keyboard.press("Home"));
  assert.equal((await state(page)).at, "0");
  assert.match(await here(page), /_start/);
});
story("zoom to one instruction by the keyboard alone", setup.one, async (page) => {
  await find(page, "fall");
  for (let i = 0; i < 30 && Number((await state(page)).to) - Number((await state(page)).from) > 8; i++) await settled(page, () => page.keyboard.press("+"));
  const {from, to, at} = await state(page);
  assert.equal(Number(to) - Number(from), 8);
  assert.ok(Number(from) <= Number(at) && Number(at) < Number(to));
  await settled(page, () => page.keyboard.press("."));
  assert.equal(Number((await state(page)).at), Number(at) + 1);
  await settled(page, () => page.keyboard.press("0"));
  assert.equal((await state(page)).from, "0");
});
story("zoom by dragging over the overview", setup.one, async (page) => {
  const box = await (await page.$("#overview")).boundingBox();
  await settled(page, async () => {
    await page.mouse.move(box.x + box.width * .25, box.y + 5);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * .5, box.y + 5);
    await page.mouse.up();
  });
  const {from, to} = await state(page), total = Number((await page.textContent("#range")).replaceAll("\u202f", "").match(/of (\d+)/)[1]);
  assert.ok(Math.abs(from / total - .25) < .02 && Math.abs(to / total - .5) < .02);
});
story("the wheel zooms around the pointer", setup.one, async (page) => {
  const box = await (await page.$("#slices")).boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 20);
  await settled(page, () => page.mouse.wheel(0, -400));
  const {from, to} = await state(page), total = Number((await page.textContent("#range")).replaceAll("\u202f", "").match(/of (\d+)/)[1]);
  assert.ok(to - from < total / 2 && Math.abs((Number(from) + Number(to)) / 2 / total - .5) < .02);
});
story("functions of the range, by their own instructions", setup.one, async (page) => {
  await settled(page, () => page.click("#tab-functions"));
  const rows = await page.$$eval("#panel .scroll:first-child tbody tr", (list) => list.map((row) => Number(row.cells[0].textContent.replaceAll("\u202f", ""))));
  assert.ok(rows.length > 10 && rows.every((value, i) => i === 0 || rows[i - 1] >= value));
  assert.match(await panel(page), /arrange/);
});
story("flame graph: a function with its callers and what it called", setup.one, async (page) => {
  await settled(page, () => page.click("#tab-flame"));
  await page.waitForSelector("#flame");
  await page.waitForFunction(() => document.getElementById("flame").height > 60);
  const box = await (await page.$("#flame")).boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + 5 * 18 + 6);
  await page.waitForSelector("#panel .columns table");
  assert.match(await panel(page), /Callers of .*Called by /s);
  await shot(page, "explore-flame.png");
});
story("messages: the one that proves the instruction, and its bytes", setup.one, async (page) => {
  await find(page, "sum_of");
  await settled(page, () => page.click("#tab-messages"));
  assert.match(await here(page), /#\d+.*(TCODE)/s);
});
story("the address of the page brings back the position, the range and the notes", setup.one, async (page) => {
  await find(page, "sum_of");
  await settled(page, () => page.keyboard.press("m"));
  await page.fill("#note", "here <b>it</b> begins");
  await settled(page, () => page.press("#note", "Enter"));
  const url = page.url(), {at} = await state(page);
  const other = await page.context().newPage();
  await other.goto(url); // it may be ready before anything can wait for a change
  await other.waitForFunction(() => /it.*begins/.test(document.getElementById("panel").textContent));
  assert.equal((await state(other)).at, at);
  assert.match(await panel(other), /here <b>it<\/b> begins/);
  await other.close();
});
story("? lists the keys", setup.one, async (page) => {
  await page.keyboard.press("?");
  assert.ok(await page.isVisible("#help"));
  assert.match(await page.textContent("#keys"), /previous execution/);
  await page.keyboard.press("Escape");
  assert.ok(!await page.isVisible("#help"));
});
story("export of what is seen", setup.one, async (page) => {
  const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("e")]);
  const saved = JSON.parse(readFileSync(await download.path(), "utf8"));
  assert.ok(saved.view.to > 0 && saved.answers.slices.slices.length > 0);
});
story("screen readers: the timeline is a table, too, and everything has a name", setup.one, async (page) => {
  await page.click("#slices-details summary");
  assert.ok((await page.$$("#slices-table tbody tr")).length > 3);
  const nameless = await page.$$eval("button, input, select, canvas", (list) => list.filter((each) => each.offsetParent &&
    !(each.getAttribute("aria-label") || each.textContent || each.labels?.length)).map((each) => each.id));
  assert.deepEqual(nameless, []);
});
story("phone: nothing is wider than the screen", setup.one, async (page) => {
  await find(page, "sum_of");
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 390); // innerWidth grows with the page
  await shot(page, "explore-phone.png");
}, {viewport: {width: 390, height: 800}, isMobile: true, hasTouch: true});
story("dark", setup.one, async (page) => {
  const [red] = (await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).match(/\d+/g).map(Number);
  assert.ok(red < 60);
}, {colorScheme: "dark"});
story("two traces: functions dearer and cheaper", setup.two, async (page) => {
  assert.equal((await page.$$("#trace option")).length, 2);
  await settled(page, () => page.click("#tab-compare"));
  assert.match(await panel(page), /sum_of/);
  await settled(page, () => page.selectOption("#trace", "1"));
  assert.equal((await state(page)).trace, "1");
});
story("two traces: the flame graph and the table of call paths that differ, with exact counts", setup.two, async (page) => {
  const count = (text) => Number(text.replaceAll("\u202f", ""));
  await settled(page, () => page.click("#tab-compare"));
  await page.waitForFunction(() => document.getElementById("difference")?.height > 60);
  const tables = await page.$$eval("#panel table", (list) => list.map((table) => [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent))));
  const [first, second, change, share] = tables[0].find((row) => row[4] === "sum_of");
  assert.equal(count(first), 2 * count(second)); // twice as many rounds
  assert.equal(change, `\u2212${second}`);
  assert.equal(share, "\u221250.0 %");
  assert.deepEqual(tables[1].find((row) => row[3].trim() === "both traces").slice(2, 3), [tables[1][0][2]]);
  const path = tables[1].find((row) => row[3].trim() === "sum_of");
  assert.equal(count(path[0]), 2 * count(path[1]));
  const box = await (await page.$("#difference")).boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 6);
  assert.match(await page.textContent("#panel p[aria-live]"), /both traces: \d+ instructions in the first trace, \d+ in the second; difference \u2212/);
  await page.mouse.click(box.x + box.width / 2, box.y + 4 * 18 + 6);
  await shot(page, "explore-compare.png");
});
story("search by address, by line, by message and by share of the trace", setup.one, async (page) => {
  await find(page, "sum_of");
  const {at} = await state(page), [, address, , , , line] = await page.$$eval("#panel tr.here:first-of-type td, #panel table:first-of-type tr.here td", (cells) => cells.map((cell) => cell.textContent));
  const message = (await page.textContent("#facts")).match(/message (#\d+)/)[1];
  await settled(page, () => page.keyboard.press("0"));
  for (const [text, test] of [[address, (row) => row.includes(address)], [line, (row) => row.includes(line)]]) {
    await find(page, text);
    assert.ok(test(await here(page)), text);
  }
  await find(page, message);
  assert.ok(Math.abs(Number((await state(page)).at) - Number(at)) < 200, message);
  await find(page, "50%");
  const total = Number((await page.textContent("#range")).replaceAll("\u202f", "").match(/of (\d+)/)[1]);
  assert.ok(Math.abs(Number((await state(page)).at) / total - .5) < .02);
});
story("names are suggested while a search is typed", setup.one, async (page) => {
  await page.fill("#text", "sum");
  await page.waitForFunction(() => [...document.querySelectorAll("#names option")].some((option) => option.value === "sum_of"));
});
story("a row is chosen by the keyboard: Enter goes to its instruction", setup.one, async (page) => {
  await find(page, "sum_of");
  const at = Number((await state(page)).at), row = await page.$("#panel tr.here + tr");
  await row.focus();
  await settled(page, () => page.keyboard.press("Enter"));
  assert.equal(Number((await state(page)).at), at + 1);
});
story("one instruction forward, and back to the same place", setup.one, async (page) => {
  await find(page, "sum_of");
  const {at} = await state(page), row = await here(page);
  await settled(page, () => page.keyboard.press("."));
  assert.notEqual(await here(page), row);
  await settled(page, () => page.keyboard.press(","));
  assert.equal((await state(page)).at, at);
  assert.equal(await here(page), row);
});
story("a click on the timeline sets the position, a double click zooms to the function", setup.one, async (page) => {
  const box = await (await page.$("#slices")).boundingBox();
  await settled(page, () => page.mouse.click(box.x + box.width / 2, box.y + 30));
  const {at, from, to} = await state(page);
  assert.ok(Math.abs((Number(at) - Number(from)) / (Number(to) - Number(from)) - .5) < .02);
  await settled(page, () => page.mouse.dblclick(box.x + box.width / 2, box.y + 8 * 18 + 4));
  const zoomed = await state(page);
  assert.ok(Number(zoomed.to) - Number(zoomed.from) <= Number(to) - Number(from));
});
story("earlier and later: the range moves and keeps its size", setup.one, async (page) => {
  await find(page, "sum_of");
  await settled(page, () => page.keyboard.press("+"));
  const one = await state(page);
  await settled(page, () => page.keyboard.press("ArrowRight"));
  const two = await state(page);
  assert.equal(two.to - two.from, one.to - one.from);
  assert.ok(Number(two.from) > Number(one.from));
  await settled(page, () => page.keyboard.press("ArrowLeft"));
  assert.ok(Math.abs((await state(page)).from - one.from) <= 1);
});
story("an address that is damaged shows the whole trace", setup.one, async (page) => {
  await page.goto(page.url().replace(/#.*/, "") + "#from=x&to=99999999999999&at=-3&tab=nothing&note=a&trace=7");
  await page.waitForFunction(() => /Executed instructions/.test(document.getElementById("panel").textContent) && !location.hash.includes("at=-3"));
  const total = (await page.textContent("#range")).replaceAll("\u202f", "").match(/of (\d+)/)[1];
  assert.equal((await state(page)).to, total);
  assert.match(await panel(page), /Executed instructions/);
});
story("next and previous gap by the keyboard, with what is missing before it", setup.gaps, async (page) => {
  await settled(page, () => page.keyboard.press("g"));
  const {at} = await state(page);
  await settled(page, () => page.keyboard.press("."));
  await settled(page, () => page.keyboard.press("G"));
  assert.equal((await state(page)).at, at);
});
story("the views are chosen by the keyboard", setup.one, async (page) => {
  for (const [key, text] of [["2", /Functions from/], ["3", /Call tree from/], ["4", /Messages; the marked one/], ["5", /no gaps/], ["6", /Interrupts and exceptions from/], ["7", /Notes are in the address/], ["1", /Call stack, \d+ frames/]]) {
    await settled(page, () => page.keyboard.press(key));
    assert.match(await panel(page), text);
  }
});
story("interrupts and exceptions: times and instructions of each handler", setup.traps, async (page) => {
  await settled(page, () => page.click("#tab-traps"));
  const [byHandler, longest] = await page.$$eval("#panel table", (list) => list.map((table) => [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent))));
  assert.deepEqual(byHandler.map(([kind, , times, instructions, , name]) => [kind, times, instructions, name]), [["interrupt", "30", "120", "quick"], ["exception", "10", "20", "fault"]]);
  assert.equal(longest.length, 40);
  assert.deepEqual(longest[0].slice(1), ["4", "0", "interrupt", "quick"]);
  await settled(page, () => page.click("#panel table tbody tr"));
  assert.match(await here(page), /quick/);
});
story("system calls by name: times and instructions", setup.calls, async (page) => {
  await settled(page, () => page.click("#tab-traps"));
  const rows = await page.$$eval("#panel table", (list) => list.filter((table) => /System calls/.test(table.caption.textContent)).flatMap((table) => [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent))));
  assert.deepEqual(rows.map(([times, instructions, , name]) => [times, instructions, name]), [["12", "60", "read"], ["5", "25", "write"]]);
  await settled(page, () => page.click("#panel table:has(caption:text('System calls')) tbody tr"));
  assert.match(await here(page), /__riscv_sys_read|__se_sys_read/);
});
story("the source has the instructions of each line, and what was not executed", setup.one, async (page) => {
  const count = (text) => Number(text.replaceAll("\u202f", ""));
  await settled(page, () => page.click("#tab-functions"));
  const self = await page.$$eval("#panel table:first-of-type tbody tr", (list) => list.map((row) => [...row.cells].map((cell) => cell.textContent)).find((row) => row[4] === "sum_of")[0]);
  const hot = await page.$$eval("#panel table", (list) => [...list[1].tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent)));
  assert.ok(hot.length > 5 && hot.every((row, i) => i === 0 || count(hot[i - 1][0]) >= count(row[0])));
  await find(page, "sum_of");
  const rows = await page.$$eval("#panel table", (list) => list.filter((table) => /instructions of each line/.test(table.caption.textContent)).flatMap((table) => [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent))));
  const lines = new Map(rows.map(([line, instructions]) => [Number(line), instructions]));
  assert.equal([13, 14, 15, 16, 17].reduce((sum, line) => sum + count(lines.get(line) || "0"), 0), count(self));
  assert.equal(lines.get(17), "0"); // the end of a loop over an empty text: the compiler has put a return there
  assert.equal(lines.get(12), "");
  assert.equal(count(hot.find((row) => row[2] === "story.c:15")[0]), count(lines.get(15)));
});
story("gaps: their reason is in the drawing's place, the table and at the position", setup.gaps, async (page) => {
  await settled(page, () => page.keyboard.press("g"));
  assert.match(await page.textContent("#panel .notice"), /execution is missing: .+bytes/);
  await settled(page, () => page.click("#tab-gaps"));
  assert.ok((await page.$$("#panel tbody tr")).length > 0);
  await shot(page, "explore-gaps.png");
});
story("hostile names stay text", setup.hostile, async (page) => {
  await settled(page, () => page.click("#tab-functions"));
  assert.match(await panel(page), /<img src=x onerror=alert\(1\)>/);
  assert.equal((await page.$$("img, #panel script")).length, 0);
});
story("what cannot be found is said", setup.one, async (page) => {
  await page.fill("#text", "no such function");
  await page.press("#text", "Enter");
  await page.waitForFunction(() => /no function, address, line or system call/.test(document.getElementById("status").textContent));
});
story("a boot of Linux, over a thousand million instructions: from all of it down to one, and to where a function was executed before", setup.boot, async (page) => {
  const total = Number((await page.textContent("#lead")).match(/([\d\u202f]+) instructions/)[1].replaceAll("\u202f", ""));
  assert.ok(total > 1e9, `${total} instructions`);
  await find(page, "start_kernel");
  assert.match(await here(page), /start_kernel/);
  for (let i = 0; i < 30; i++) await settled(page, () => page.keyboard.press("+"));
  const {from, to} = await state(page);
  assert.ok(Number(to) - Number(from) < 1000, `${from} to ${to}`);
  await page.keyboard.press("End");
  await find(page, "schedule");
  await settled(page, () => page.click("#previous"));
  assert.match(await here(page), /schedule/);
});

const only = new RegExp(process.env.NTRACE_TEST_CASE || ".");
for (const {name, url, run, context} of stories.filter((each) => each.url && only.test(each.name))) {
  const surroundings = await browser.newContext({viewport: {width: 1280, height: 900}, ...context});
  const page = await surroundings.newPage();
  const problems = [];
  page.setDefaultTimeout(url === setup.boot ? 200000 : 30000); // its index takes a minute
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("dialog", (dialog) => { problems.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
  page.on("console", (message) => { if (message.type() === "error" && !/status of 400/.test(message.text())) problems.push(message.text()); });
  page.on("request", (request) => { if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).host !== new URL(url).host) problems.push(`asks ${request.url()}`); });
  let error = null;
  try {
    await page.goto(url);
    await indexed(page);
    await page.waitForFunction(() => document.body.dataset.ready !== undefined);
    await run(page);
    assert.deepEqual(problems, [], "errors of the page");
  } catch (problem) {
    error = String(problem.message ?? problem).slice(0, 1500);
  }
  console.log(JSON.stringify({name, error}));
  await surroundings.close();
}
await browser.close();
