// Makes the folder `out` of a program's sources, of which the first is the main one: prepare.cjs SOURCE...
//
// Checks the main source, as a script and then as a module, which may import and await at its top level. Node itself tells
// the two apart by package.json, and by the source in newer versions only. The types of TypeScript are removed and not
// checked, as by tsx and esbuild.
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const MODULE = JSON.stringify({ type: "module" });
const OF_SCRIPTS = ["exports", "require", "module", "__filename", "__dirname"];
// what V8 says of a module that it reads as a script
const ONLY_IN_MODULES = /import statement outside a module|token 'export'|import\.meta|await is only valid|token 'await'/;
const typescript = process.argv[2].endsWith(".ts") && require("/usr/share/nodejs/typescript/lib/typescript.js");

function typeless(source, text, isModule) {
  const { ScriptTarget, ModuleKind } = typescript;
  const module = isModule ? ModuleKind.ESNext : ModuleKind.CommonJS;
  const made = typescript.transpileModule(text, {
    compilerOptions: { target: ScriptTarget.ES2022, module, esModuleInterop: true },
    fileName: source,
    reportDiagnostics: true,
  });
  for (const each of made.diagnostics) {
    const place = each.file ? each.file.getLineAndCharacterOfPosition(each.start) : { line: -1, character: -1 };
    const said = typescript.flattenDiagnosticMessageText(each.messageText, "\n");
    console.error(`${source}(${place.line + 1},${place.character + 1}): error TS${each.code}: ${said}`);
  }
  if (made.diagnostics.length) process.exit(1);
  return made.outputText;
}

function prepared(source, isModule) {
  const text = fs.readFileSync(source, "utf8").replace(/^\ufeff/, "");
  return typescript ? typeless(source, text, isModule) : text;
}

function failure(check) {
  try {
    check();
    return null;
  } catch (error) {
    return error;
  }
}

function isModule(source) {
  const asScript = failure(() => vm.compileFunction(prepared(source, false), OF_SCRIPTS, { filename: source }));
  if (!asScript) return false;
  const asModule = failure(() => new vm.SourceTextModule(prepared(source, true), { identifier: source }));
  if (!asModule) return true;
  const error = ONLY_IN_MODULES.test(asScript.message) ? asModule : asScript;
  console.error(error.stack.replace(/\n +at [^]*/, ""));
  process.exit(1);
}

function put(name, text) {
  const target = path.join("out", name);
  fs.mkdirSync(path.dirname(target), { recursive: true });
  fs.writeFileSync(target, text);
}

const sources = process.argv.slice(2);
const asModule = isModule(sources[0]);
for (const source of sources) put(source.replace(/\.ts$/, ".js"), prepared(source, asModule));
if (asModule) put("package.json", MODULE);
