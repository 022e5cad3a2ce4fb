// Removes the types from a TypeScript source: transpile.js SOURCE TARGET. Types are not checked, as with tsx and esbuild.
const fs = require("fs");
const ts = require("/usr/share/nodejs/typescript/lib/typescript.js");

const [source, target] = process.argv.slice(2);
const options = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.CommonJS, esModuleInterop: true };
const made = ts.transpileModule(fs.readFileSync(source, "utf8"), {
  compilerOptions: options,
  fileName: source,
  reportDiagnostics: true,
});
for (const each of made.diagnostics) {
  const place = each.file ? each.file.getLineAndCharacterOfPosition(each.start) : { line: -1, character: -1 };
  const text = ts.flattenDiagnosticMessageText(each.messageText, "\n");
  console.error(`${source}(${place.line + 1},${place.character + 1}): error TS${each.code}: ${text}`);
}
if (made.diagnostics.length) process.exit(1);
fs.writeFileSync(target, made.outputText);
