/**
 * No module of the packages has state of its own: two servers in one process would share it. What is remembered for an
 * object is in a WeakMap with the object as its key.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Files with such state, and why it is the process's. One without it must be removed. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "apiserver/src/clusters/problems.ts": "the process's limit of file descriptors, read once",
  "apiserver/src/lazy-imports.ts": "a module that is loaded when it is needed",
  "apiserver/src/schema/regexp.ts": "compiled patterns, limited in number and size, the same for all clusters",
  "apiserver/src/server/request-scope.ts": "whether the process is guarded against failures of requests",
  "foundation/src/certificates.ts": "facts of certificates by their text, limited in number",
  "hosted-control-plane/src/controlplane/new-root.ts": "a key pair that was made in advance, without an owner yet",
  "openstack-operator/src/config/schema.ts": "files of the package, each read once",
};
const STATE = /^(?:export )?(?:let|var) |^(?:export )?const \w+ = new (?:Map|Set)(?:<.*>)?\(\);/;

/** Every module-level variable, as "file:line", and every exception that is not needed any more. */
export function checkModuleState(root: string, exceptions: Readonly<Record<string, string>> = EXCEPTIONS): string[] {
  const folder = join(root, "packages");
  const found = readdirSync(folder).flatMap((name) =>
    readdirSync(join(folder, name, "src"), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !/(?:^|\/)testing\//.test(file))
      .toSorted()
      .flatMap((file) => {
        const lines = readFileSync(join(folder, name, "src", file), "utf8").split("\n");
        return lines.flatMap((line, i) => (STATE.test(line) ? [{ file: `${name}/src/${file}`, line: i + 1 }] : []));
      }),
  );
  const needed = new Set(found.map(({ file }) => file));
  return [
    ...found
      .filter(({ file }) => exceptions[file] === undefined)
      .map(
        ({ file, line }) => `packages/${file}:${line} is state of a module; keep it in an object that its user makes`,
      ),
    ...Object.keys(exceptions)
      .filter((file) => !needed.has(file))
      .map((file) => `scripts/module-state.ts: remove ${file} from the exceptions: it has no such state`),
  ];
}
