// Makes the page: one HTML file with its script and style inside, which asks for nothing from anywhere.
// usage: node build.mjs [OUT]   (default: explore.html beside this file, which is part of the tree)
import {build} from "esbuild";
import {createHash} from "node:crypto";
import {readFileSync, writeFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const options = {bundle: true, minify: true, write: false, charset: "utf8", legalComments: "none", target: "es2022"};
const made = async (name) => (await build({...options, entryPoints: [join(here, "src", name)]})).outputFiles[0].text.trim();
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const script = (await made("main.ts")).replaceAll("</script", "<\\/script");
const style = await made("page.css");
const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'`;
const page = readFileSync(join(here, "src", "page.html"), "utf8");
const parts = {policy, style, script};
writeFileSync(process.argv[2] ?? join(here, "explore.html"), page.replace(/{{(\w+)}}/g, (_, name) => parts[name]));
