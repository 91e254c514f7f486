/**
 * `--help` remains fast: `command.ts` of each command, and what it imports, load no package but commander and
 * foundation. What a command does is in its action, which is imported when it runs.
 */
import { existsSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { importsIn } from "./parsed.ts";

const FOLDER = "packages/causeway/src/commands";
/** What all options need: commander, the lowest package, and what Node brings. */
const LIGHT = /^(?:@commander-js\/extra-typings|@causeway\/foundation|node:)/;

/** Every value that a command loads from elsewhere before it runs, as "file: what it imports". */
export function checkCommandImports(root: string, folder = FOLDER): string[] {
  const commands = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => /(?:^|\/)command\.ts$/.test(file))
    .map((file) => join(root, folder, file));
  const reached = new Set(commands);
  const problems: string[] = [];
  for (const file of reached) {
    for (const specifier of loadedBy(file)) {
      const target = resolve(dirname(file), specifier);
      if (specifier.startsWith(".") && existsSync(target)) reached.add(target);
      else if (!LIGHT.test(specifier))
        problems.push(
          `${relative(root, file)}: a command loads "${specifier}" before it runs; import it in its action.ts`,
        );
    }
  }
  return problems.toSorted();
}

/** Modules that a file loads as it is loaded: values, not types, and not what `import("…")` names. */
function loadedBy(file: string): readonly string[] {
  return importsIn(file).flatMap(({ specifier, values, isDynamic }) =>
    values.length > 0 && !isDynamic ? [specifier] : [],
  );
}
