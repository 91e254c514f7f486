/**
 * Command lines in pages and manifests: each `causeway …` uses only commands and options that the program has, and each
 * `npm run …` a script of package.json.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { program } from "@causeway/causeway";

type Command = ReturnType<typeof program>;

/** What is read: pages, manifests, the unit of systemd, help and advice of the program; no generated pages. */
const READ =
  /\.md$|^deploy\/(?!crds\/).*\.(?:yaml|tpl|service)$|^\.ci\/run$|^packages\/causeway\/src\/.*(?<!\.test)\.ts$/;
const NOT_READ = /^(?:CHANGELOG\.md|docs\/reference\/command-line\.md|\.changeset\/)|\/(?:truth|fixtures)\//;

/** A command line as a file has it. */
interface Line {
  readonly line: number;
  readonly words: readonly string[];
}

/** Every use of a command, an option or a script that does not exist, as "FILE:LINE what". */
export function checkCommandLines(root: string): string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: object };
  const commands = program(new AbortController().signal);
  return execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter((file) => READ.test(file) && !NOT_READ.test(file))
    .flatMap((file) =>
      problemsIn(file, readFileSync(join(root, file), "utf8"), { commands, scripts: Object.keys(scripts) }),
    );
}

interface Known {
  readonly commands: Command;
  readonly scripts: readonly string[];
}

/** The problems of one file. */
export function problemsIn(file: string, text: string, { commands, scripts }: Known): string[] {
  const manifest = /\.(?:yaml|tpl)$/.test(file);
  const code = linesOf(file, text);
  const found = [
    ...code.flatMap(({ line, words }) => problemsOfWords(words, { commands, scripts }).map((what) => ({ line, what }))),
    ...(manifest ? argumentsOf(text) : []).flatMap(({ line, words }) =>
      problemsOfCommand(words, commands).map((what) => ({ line, what })),
    ),
  ];
  return found.map(({ line, what }) => `${file}:${line} ${what}`);
}

function linesOf(file: string, text: string): Line[] {
  if (file.endsWith(".md")) return codeOfPage(text);
  if (file.endsWith(".ts")) return textsOf(text);
  return file === ".ci/run" ? blocksOf(text) : manifestLines(text);
}

/** Examples of a help, which may have an explanation behind blanks, and advice to start the program. */
function textsOf(text: string): Line[] {
  return text.split("\n").flatMap((line, i) => {
    const example = /^ {2}((?:\w+=\S+ )*causeway .*)/.exec(line)?.[1]?.replace(/ {3,}.*|`,?$/, "");
    const advice = [...line.matchAll(/\$\{ownName\(\)\} ([^`"\\]*)/g)].map(([, rest = ""]) => `causeway ${rest}`);
    return [example ?? [], advice].flat().map((found) => ({ line: i + 1, words: wordsOf(found) }));
  });
}

/** Spans of code, which may go over the end of a line, and lines of blocks of code. */
function codeOfPage(text: string): Line[] {
  const lines = text.split("\n");
  const prose: string[] = [];
  const block: string[] = [];
  let isFenced = false;
  for (const line of lines) {
    const isFence = /^\s*```/.test(line);
    const isBlock = !isFence && (isFenced || /^ {4}/.test(line));
    if (isFence) isFenced = !isFenced;
    prose.push(isBlock || isFence ? "" : line);
    block.push(isBlock ? line : "");
  }
  const whole = prose.join("\n");
  const spans = [...whole.matchAll(/`([^`]+)`/g)]
    .filter(([, span = ""]) => !/\n\s*\n/.test(span))
    .map(({ 1: span = "", index }) => ({ line: lineAt(whole, index), words: wordsOf(span) }));
  return [...spans, ...blocksOf(block.join("\n"))];
}

/** Lines of a program of the shell; one that ends with a backslash continues. */
function blocksOf(text: string): Line[] {
  return [...text.matchAll(/(?:[^\n\\]|\\[^\n]|\\\n)+/g)].map(({ 0: line, index }) => ({
    line: lineAt(text, index),
    words: wordsOf(line.replaceAll("\\\n", " ")),
  }));
}

/** Comments of manifests, texts with code, and the command of a unit. */
function manifestLines(text: string): Line[] {
  return text.split("\n").flatMap((line, i) => {
    const spans = [...line.matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span);
    const own = /^#\s{2,}(causeway .*)/.exec(line) ?? /^ExecStart=(.*)/.exec(line);
    return [...spans, ...(own ? [own[1] ?? ""] : [])].map((span) => ({ line: i + 1, words: wordsOf(span) }));
  });
}

/** The arguments of containers that begin with a command of the program. */
function argumentsOf(text: string): Line[] {
  const flows = [...text.matchAll(/\bargs:\s*\[([^\]]*)\]/g)].map(({ 1: items = "", index }) => ({
    line: lineAt(text, index),
    words: items.split(",").map(unquoted),
  }));
  const blocks = [...text.matchAll(/\bargs:\s*\n((?:[ ]+-[ ][^\n]*\n|[ ]*\{\{[^\n]*\n|[ ]*#[^\n]*\n)+)/g)].map(
    ({ 1: items = "", index }) => ({
      line: lineAt(text, index),
      words: [...items.matchAll(/^ +- (.*)$/gm)].map(([, item = ""]) => unquoted(item)),
    }),
  );
  return [...flows, ...blocks].filter(({ words }) => words[0] === "run");
}

const unquoted = (item: string): string => item.trim().replace(/^["']|["']$|\s+#.*$/g, "");
const lineAt = (text: string, index: number): number => text.slice(0, index).split("\n").length;

/** Words of a line of the shell: quotes keep blanks together; a comment ends it. */
function wordsOf(line: string): string[] {
  const words = line.match(/(?:"[^"]*"|'[^']*'|\{\{.*?\}\}|<[^<>]*>|[^\s"'])+/g) ?? [];
  const end = words.findIndex((word) => word.startsWith("#"));
  return end < 0 ? words : words.slice(0, end);
}

const ENDS = /^(?:\|\|?|&&?|;|>>?|\d>.*|<|\\|→)$/;
/** What may be in front of a program's name. */
const BEFORE = /^(?:\$|\w+=.*|sudo|exec|npx|time|\()$/;
const PROGRAM = /^(?:\S*\/)?(?:causeway|launch\.sh)$/;

function problemsOfWords(words: readonly string[], known: Known): string[] {
  return words.flatMap((word, i) => {
    const before = words[i - 1];
    if (before !== undefined && !ENDS.test(before) && !BEFORE.test(before)) return [];
    const rest = words.slice(i + 1);
    if (word === "npm") return problemsOfNpm(rest, known);
    if (!PROGRAM.test(word)) return [];
    // The name without a scope belongs to another package of the registry.
    const wrong = before === "npx" && word === "causeway" ? ["has npx causeway: write npm run causeway --"] : [];
    return [...wrong, ...problemsOfCommand(rest, known.commands)];
  });
}

function problemsOfNpm([action, script = "", dashes, ...more]: readonly string[], known: Known): string[] {
  if (action === "start" && script === "--")
    return problemsOfCommand(["up", "--demo", dashes ?? "", ...more], known.commands);
  // A placeholder, or an option of npm.
  if (action !== "run" || script === "" || /^[A-Z<{-]|[*…]/.test(script)) return [];
  const name = script.replace(/[,.;:)]+$/, "");
  if (!known.scripts.includes(name)) return [`has npm run ${name}: package.json has no such script`];
  return name === "causeway" && dashes === "--" ? problemsOfCommand(more, known.commands) : [];
}

/** What of a command's words the program does not have. */
function problemsOfCommand(words: readonly string[], root: Command): string[] {
  const problems: string[] = [];
  let command = root;
  // Whether the next word may be a command.
  let isOpen = true;
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i] ?? "";
    if (ENDS.test(word)) break;
    const bare = word.replace(/^\[+|[\],.;:)…]+$/g, "");
    if (/^-{1,2}[a-zA-Z]/.test(bare)) {
      const { problem, takesNext } = optionIn(command, word, bare);
      problems.push(...problem);
      if (takesNext) i += 1;
    } else if (isOpen && bare !== "") {
      const inner = bare.split("|").map((each) => innerOf(command, each));
      isOpen = inner.every((each) => each !== undefined);
      if (!isOpen && command.commands.length > 0) {
        // A table of the source has the command.
        if (bare.startsWith("${")) break;
        if (command.registeredArguments.length === 0 && !/^[A-Z<{…'"$]/.test(bare))
          problems.push(`has the command ${bare}, which ${pathOf(command)} does not`);
      }
      command = (isOpen ? inner[0] : undefined) ?? command;
    }
  }
  return problems;
}

/** What is wrong with an option, and whether the word after it is its value. */
function optionIn(command: Command, word: string, bare: string): { problem: string[]; takesNext: boolean } {
  const [name = "", value] = bare.split(/=(.*)/s);
  const option = optionOf(command, name);
  if (!option) return { problem: [`has ${name}, which ${pathOf(command)} does not`], takesNext: false };
  return { problem: [], takesNext: option.required && value === undefined && !word.endsWith("]") };
}

function innerOf(command: Command, name: string): Command | undefined {
  return command.commands.find((each) => each.name() === name || each.aliases().includes(name));
}

function optionOf(command: Command, name: string) {
  const usual = { required: false };
  if (name === "--help" || name === "-h" || (command.parent === null && /^(?:--version|-v|-V)$/.test(name)))
    return usual;
  return command.options.find(({ flags }) => flags.split(/[ ,|]+/).includes(name));
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}
