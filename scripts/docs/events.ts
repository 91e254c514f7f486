import { dirname, join } from "node:path";
import { MEANINGS } from "./event-meanings.ts";
import type { Page } from "./page.ts";
import { places, property, sourceFiles, texts, type Place, type SourceFile, type SyntaxNode } from "./source/syntax.ts";
import { table } from "./table.ts";

interface EventRow {
  readonly package: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

/** A function that makes an event of its arguments. */
interface Maker {
  readonly path: string;
  readonly name: string;
  readonly parameters: readonly string[];
  readonly types: readonly string[];
  readonly reason: string;
  readonly message: string | undefined;
}

const isType = (text: string): boolean => text === "Normal" || text === "Warning";
const functions = ["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"];

/** Every event that the sources write, by package. */
function eventsOf(root: string): EventRow[] {
  const makers: Maker[] = [];
  const rows = sourceFiles(root, /"(Normal|Warning)"/).flatMap((file) =>
    [...places(file.program)].flatMap(({ node, within }): EventRow[] => {
      if (node.type !== "ObjectExpression") return [];
      const types = texts(property(node, "type"), within).filter(isType);
      const reason = property(node, "reason");
      if (types.length === 0 || reason === undefined) return [];
      const reasons = texts(reason, within);
      const maker = reasons.length === 0 ? makerOf(node, types, within) : undefined;
      if (maker) makers.push({ ...maker, path: file.path });
      const messages = texts(property(node, "message"), within);
      return crossed(file.package, types, reasons, messages);
    }),
  );
  return [...rows, ...madeBy(root, makers)];
}

/** The events of calls of makers, in their own files and in those that import them. */
function madeBy(root: string, makers: readonly Maker[]): EventRow[] {
  const names = [...new Set(makers.map(({ name }) => name))].join("|");
  return sourceFiles(root, new RegExp(String.raw`\b(${names})\(`)).flatMap((file) => {
    const imported = importsOf(file);
    const known = makers.filter(({ path, name }) => path === file.path || imported.has(`${path} ${name}`));
    if (known.length === 0) return [];
    return [...places(file.program)].flatMap((place) => known.flatMap((maker) => callOf(file.package, maker, place)));
  });
}

/** "path name" of what a file imports from others of its package. */
function importsOf({ path, program }: SourceFile): Set<string> {
  const statements = (program["body"] as SyntaxNode[]).filter(({ type }) => type === "ImportDeclaration");
  const all = statements.flatMap((statement) => {
    const from = join(dirname(path), String((statement["source"] as SyntaxNode)["value"]));
    const names = (statement["specifiers"] as SyntaxNode[]).map(({ local }) => (local as SyntaxNode)["name"]);
    return names.map((name) => `${from} ${String(name)}`);
  });
  return new Set(all);
}

function crossed(
  name: string,
  types: readonly string[],
  reasons: readonly string[],
  messages: readonly string[],
): EventRow[] {
  const message = messages.length > 2 ? "" : messages.join(" / ");
  return reasons.map((reason, index) => ({ package: name, type: types[index] ?? types[0] ?? "", reason, message }));
}

/** The function around an event whose reason is its parameter. */
function makerOf(
  node: SyntaxNode,
  types: readonly string[],
  within: readonly SyntaxNode[],
): Omit<Maker, "path"> | undefined {
  const at = within.findIndex(({ type }) => functions.includes(type));
  const made = within[at];
  const outer = within[at + 1];
  const name = ((made?.["id"] ?? outer?.["id"]) as SyntaxNode | null | undefined)?.["name"] as string | undefined;
  const reason = property(node, "reason")?.["name"] as string | undefined;
  if (made === undefined || name === undefined || reason === undefined) return undefined;
  const parameters = (made["params"] as SyntaxNode[]).map((each) => (each["name"] as string | undefined) ?? "");
  return { name, parameters, types, reason, message: property(node, "message")?.["name"] as string | undefined };
}

function callOf(name: string, maker: Maker, { node, within }: Place): EventRow[] {
  if (node.type !== "CallExpression" || (node["callee"] as SyntaxNode)["name"] !== maker.name) return [];
  const given = node["arguments"] as SyntaxNode[];
  const argument = (parameter: string | undefined) => texts(given[maker.parameters.indexOf(parameter ?? "")], within);
  return crossed(name, maker.types, argument(maker.reason), argument(maker.message));
}

/** The messages of one reason, or when it is written, where the message is computed as a whole. */
function messageOf(name: string, reason: string, messages: string): string {
  const meaning = MEANINGS[name]?.[reason];
  if (messages === "" && meaning === undefined)
    throw new Error(
      `the message of event ${reason} of ${name} is computed: say in event-meanings.ts when it is written`,
    );
  return meaning ?? messages;
}

/** One page with the events of all controllers. */
export function eventsPage(root: string): Page {
  const events = eventsOf(root);
  const sections = [...new Set(events.map((each) => each.package))].map((name) => {
    const own = events.filter((each) => each.package === name);
    const reasons = [...new Set(own.map(({ reason }) => reason))].sort();
    const rows = reasons.map((reason) => {
      const same = own.filter((each) => each.reason === reason);
      const unique = (texts: readonly string[]) => [...new Set(texts.filter((text) => text !== ""))].sort().join(" / ");
      const message = messageOf(name, reason, unique(same.map((each) => each.message)));
      return [`\`${reason}\``, unique(same.map(({ type }) => type)), message];
    });
    return `## ${name}\n\n${table(["reason", "type", "message, or when it is written"], rows)}`;
  });
  const intro =
    "Generated from the sources: every event by the package that writes it (`kubectl get events`). `…` represents what is known when it is\n" +
    "written; where a message is computed as a whole, the page says when the event is written. Warnings say what to do in their text or by an error's code, which\n" +
    "[errors](errors/index.md) lists.";
  return { path: "docs/reference/events.md", text: `${["# Events", intro, ...sections].join("\n\n")}\n` };
}
