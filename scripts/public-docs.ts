/**
 * Every name that a package exports has a doc comment, which a user of the package reads in an editor, and so has every
 * name that a file of a package exports to the files next to it.
 */
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { parsedFile } from "./parsed.ts";

type Statement = ReturnType<typeof parsedFile>["result"]["program"]["body"][number];
interface Module {
  readonly text: string;
  readonly body: readonly Statement[];
}

/** Names of public APIs whose declaration has no doc comment, as "file:line". */
export function checkPublicDocs(root: string): string[] {
  const read = reader();
  const problems = new Set<string>();
  for (const { name, file, before } of publicNames(root, read)) {
    if (before.trimEnd().endsWith("*/")) continue;
    const line = before.split("\n").length;
    problems.add(`${relative(root, file)}:${line} exports ${name} from the package without a doc comment`);
  }
  return [...problems, ...sharedInside(root, read, problems)];
}

/** A name that users of a package import, and the text of its file before its declaration. */
export interface PublicName {
  /** The folder of the package below packages/. */
  readonly inPackage: string;
  readonly name: string;
  readonly file: string;
  readonly before: string;
}

/** Every name that a package exports. */
export function publicNames(root: string, read: Read = reader()): PublicName[] {
  return entriesOf(root).flatMap((entry) =>
    namesOf(entry, read).flatMap((name) => {
      const found = declarationOf(entry, name, read);
      if (found === undefined) return [];
      const inPackage = relative(join(root, "packages"), entry).split("/", 1)[0] ?? "";
      return [{ inPackage, name, file: found.file, before: read(found.file).text.slice(0, found.start) }];
    }),
  );
}

function reader(): Read {
  const modules = new Map<string, Module>();
  return (file) => {
    const known = modules.get(file);
    if (known) return known;
    const found = existsSync(file) ? parsedFile(file) : undefined;
    const module = { text: found?.text ?? "", body: found?.result.program.body ?? [] };
    modules.set(file, module);
    return module;
  };
}

/** Exports of files of packages; tests, what is for tests, and generated files are not read. */
function sharedInside(root: string, read: Read, known: ReadonlySet<string>): string[] {
  const places = new Set([...known].map((problem) => problem.split(" ", 1)[0]));
  return globSync("packages/*/src/**/*.ts", { cwd: root })
    .filter((file) => !/\.test\.ts$|testing|\.generated\.ts$|\.d\.ts$/.test(file))
    .flatMap((file) => {
      const { text, body } = read(join(root, file));
      return body.flatMap((statement) => {
        if (statement.type !== "ExportNamedDeclaration" || !statement.declaration) return [];
        const before = text.slice(0, statement.start);
        // A comment of the whole file is no comment of its first name.
        if (/\*\/\n?[ \t]*$/.test(before)) return [];
        const at = `${file}:${before.split("\n").length}`;
        return places.has(at) ? [] : [`${at} exports ${declared(statement).join(", ")} without a doc comment`];
      });
    });
}

/** The files that packages are used through; those for tests are not for users. */
function entriesOf(root: string): string[] {
  return readdirSync(join(root, "packages")).flatMap((name) => {
    const folder = join(root, "packages", name);
    const { exports = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { exports?: unknown };
    const targets = typeof exports === "string" ? [exports] : Object.values(exports as Record<string, unknown>);
    return targets
      .filter((target): target is string => typeof target === "string" && target.endsWith(".ts"))
      .filter((target) => !target.includes("testing"))
      .map((target) => join(folder, target));
  });
}

type Read = (file: string) => Module;

const isLocal = (source: string): boolean => source.startsWith(".");

function declared(statement: Statement): string[] {
  const { declaration } = statement as { declaration?: { id?: { name?: string }; declarations?: unknown[] } | null };
  const own = (declaration ?? statement) as { id?: { name?: string } | null; declarations?: unknown[] };
  const several = (own.declarations ?? []) as { id: { name?: string } }[];
  return [own.id?.name, ...several.map(({ id }) => id.name)].filter((name) => name !== undefined);
}

function namesOf(file: string, read: Read, seen = new Set<string>()): string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  return read(file).body.flatMap((statement) => {
    if (statement.type === "ExportAllDeclaration") {
      const { value } = statement.source;
      return isLocal(value) ? namesOf(resolve(dirname(file), value), read, seen) : [];
    }
    if (statement.type !== "ExportNamedDeclaration") return [];
    return statement.declaration
      ? declared(statement)
      : statement.specifiers.flatMap(({ exported }) => ("name" in exported ? [exported.name] : []));
  });
}

interface Declaration {
  readonly file: string;
  readonly start: number;
}

/** Where a name is declared that a file exports; undefined where another package does. */
function declarationOf(file: string, name: string, read: Read, seen = new Set<string>()): Declaration | undefined {
  if (seen.has(`${file} ${name}`)) return undefined;
  seen.add(`${file} ${name}`);
  const follow = (source: string, as: string): Declaration | undefined =>
    isLocal(source) ? declarationOf(resolve(dirname(file), source), as, read, seen) : undefined;
  const { body } = read(file);
  const own = body.find((statement) => declared(statement).includes(name));
  if (own) return { file, start: own.start };
  for (const statement of body) {
    if (statement.type === "ExportAllDeclaration") {
      const found = follow(statement.source.value, name);
      if (found) return found;
    }
    if (statement.type === "ImportDeclaration") {
      const specifier = statement.specifiers.find(({ local }) => local.name === name);
      if (specifier) return follow(statement.source.value, importedName(specifier, name));
    }
    if (statement.type !== "ExportNamedDeclaration" || statement.declaration) continue;
    const specifier = statement.specifiers.find(({ exported }) => "name" in exported && exported.name === name);
    const local = specifier && "name" in specifier.local ? specifier.local.name : undefined;
    if (local === undefined) continue;
    if (statement.source) return follow(statement.source.value, local);
    if (local !== name) return declarationOf(file, local, read, seen);
  }
  return undefined;
}

function importedName(specifier: object, local: string): string {
  const { imported } = specifier as { imported?: { name?: string } };
  return imported?.name ?? local;
}
