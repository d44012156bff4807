// Makes the page: one HTML file with its script and style inside, which asks for nothing from anywhere.
// usage: node build.mjs [OUT]                    (default: explore.html beside this file, which is part of the tree)
//        node build.mjs --engine FOLDER OUT      the page without a server (OUT/site) and the npm package (OUT/npm); FOLDER has engine.js
//                                                and engine.wasm, which tools/web makes
import {build} from "esbuild";
import {createHash} from "node:crypto";
import {copyFileSync, mkdirSync, readFileSync, writeFileSync} from "node:fs";
import {dirname, join, resolve} from "node:path";
import {fileURLToPath} from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const options = {bundle: true, minify: true, write: false, charset: "utf8", legalComments: "none", target: "es2022"};
const made = async (name, more = {}) => (await build({...options, ...more, entryPoints: [join(here, "src", name)]})).outputFiles[0].text.trim();
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const source = (...names) => readFileSync(join(here, ...names), "utf8");

async function page(entry, open, more) {
  const script = (await made(entry)).replaceAll("</script", "<\\/script"), style = await made("page.css");
  const policy = `default-src 'none'; script-src ${hash(script)}${more}; style-src ${hash(style)}; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'`;
  const parts = {policy, style, script, open};
  return source("src", "page.html").replace(/{{(\w+)}}/g, (_, name) => parts[name]);
}

/** Everything is in files of one folder, which any web space can serve. */
async function local(engine, out) {
  const module = {format: "esm", external: ["node:fs/promises"], alias: {"ntrace-engine": resolve(engine, "engine.js")}};
  const site = join(out, "site"), npm = join(out, "npm"), wasm = join(engine, "engine.wasm");
  for (const folder of [site, npm]) {
    mkdirSync(folder, {recursive: true});
    copyFileSync(wasm, join(folder, "engine.wasm"));
    copyFileSync(join(here, "..", "LICENSE"), join(folder, "LICENSE"));
  }
  writeFileSync(join(site, "index.html"), await page("local.ts", source("src", "open.html"), "; worker-src 'self'"));
  const worker = await made("worker.ts", module);
  writeFileSync(join(site, "worker.js"), `${worker}\n`);
  writeFileSync(join(npm, "worker.js"), `${worker}\n`);
  writeFileSync(join(npm, "index.js"), `${await made("npm.ts", module)}\n`);
  const version = /version: '([^']*)'/.exec(source("..", "meson.build"))[1];
  writeFileSync(join(npm, "package.json"), `${JSON.stringify({...JSON.parse(source("npm", "package.json")), version}, null, 2)}\n`);
  for (const name of ["README.md", "index.d.ts"]) copyFileSync(join(here, "npm", name), join(npm, name));
}

const [first, engine, out] = process.argv.slice(2);
if (first === "--engine") await local(engine, out);
else writeFileSync(first ?? join(here, "explore.html"), await page("server.ts", "", ""));
