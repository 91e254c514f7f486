import { setTimeout as sleep } from "node:timers/promises";
import { accounts, commandsOf, type Account, type Suite, type Command } from "./suite.ts";
import { addressesIn, outputOf, type ClientOutput } from "./normal.ts";
import { ClientProcess, type Answer } from "./process.ts";

/** One command and its output. */
export interface Line {
  readonly command: string;
  readonly output: ClientOutput;
}

/** The accounts of one cloud, each a client that is started at its first command. */
export class CloudClients {
  readonly #file: string;
  readonly #names: Readonly<Record<Account, string>>;
  readonly #running = new Map<Account, ClientProcess>();

  /** `file` is a clouds.yaml with the entries NAME, NAME-admin, NAME-alt and NAME-reader. */
  constructor(file: string, name: string) {
    this.#file = file;
    this.#names = { member: name, admin: `${name}-admin`, alt: `${name}-alt`, reader: `${name}-reader` };
  }

  run(account: Account, words: readonly string[]): Promise<Answer> {
    let client = this.#running.get(account);
    if (client === undefined) {
      client = new ClientProcess({ file: this.#file, name: this.#names[account] });
      this.#running.set(account, client);
    }
    return client.run(words);
  }

  async close(): Promise<void> {
    for (const account of accounts) await this.#running.get(account)?.close();
  }
}

/** Runs a suite on a cloud, every line whatever the ones before it said. */
export async function runSuite(clients: CloudClients, suite: Suite, prefix: string): Promise<readonly Line[]> {
  const kept = new Map<string, string>();
  const names = new Map<string, string>();
  const known = { prefix, names, addresses: addressesIn(suite.lines) };
  const perform = (command: Command) =>
    clients.run(
      command.account,
      command.words.map((word) => filled(word, prefix, kept)),
    );
  const lines: Line[] = [];
  for (const command of commandsOf(suite.lines)) {
    if (waits.has(command.words[0] ?? "")) {
      await settled(clients, { ...command, words: command.words.map((word) => filled(word, prefix, kept)) });
      continue;
    }
    const answer = await perform(command);
    learn(command, answer, { kept, names, prefix });
    lines.push({ command: command.text, output: outputOf(answer, known, command.rows) });
  }
  for (const command of commandsOf(suite.cleanup ?? "")) await perform(command);
  return lines;
}

/** Milliseconds that what is under way has at most, and between two reads of it. */
const [TIMEOUT, PAUSE] = [600_000, 500];

/** A server's task, and a status that another will follow. */
const underWay =
  /"OS-EXT-STS:task_state": "|"(provisioning_)?status": "(?!error|awaiting)(\w*ing(-\w+)?|PENDING_\w+)"|"state": "(queued_\w+|applying|denying)"/;

const waits: ReadonlySet<string> = new Set(["settled", "until"]);

/** Waits for the end of what a resource is doing, or of the resource, or for a status. */
async function settled(clients: CloudClients, { account, words: [verb, ...words] }: Command): Promise<void> {
  const wanted = verb === "until" ? words.shift() : undefined;
  const show = [...(words.length === 1 ? ["server"] : words.slice(0, -1)), "show", ...words.slice(-1)];
  for (const end = Date.now() + TIMEOUT; Date.now() < end;) {
    const { out, code } = await clients.run(account, show);
    const isOver = wanted === undefined ? !underWay.test(out) : new RegExp(`"(status|state)": "${wanted}"`).test(out);
    if (code !== 0 || isOver) return;
    await sleep(PAUSE);
  }
}

const filled = (word: string, prefix: string, kept: ReadonlyMap<string, string>) =>
  word.replaceAll(/\{(\w+)\}/g, (whole, name: string) =>
    name === "p" ? prefix : name === "P" ? prefix.toUpperCase() : (kept.get(name) ?? whole),
  );

interface Learnt {
  readonly kept: Map<string, string>;
  readonly names: Map<string, string>;
  readonly prefix: string;
}

/** Keeps the id of what a command printed, under the line's own name and under the resource's. */
function learn({ keep }: Command, { out }: Answer, { kept, names, prefix }: Learnt): void {
  const start = out.search(/^[[{]/m);
  if (start < 0) return;
  let printed: unknown;
  try {
    printed = JSON.parse(out.slice(start));
  } catch {
    return;
  }
  const first: unknown = Array.isArray(printed) ? (keep === undefined ? undefined : printed[0]) : printed;
  if (typeof first !== "object" || first === null) return;
  const fields = first as Readonly<Record<string, unknown>>;
  const id = fields["id"] ?? fields["ID"] ?? fields["uuid"] ?? hrefOf(fields);
  if (typeof id !== "string") return;
  const named = fields["name"];
  const name = typeof named === "string" ? named.replaceAll(prefix, "{p}") : "";
  const bare = id.slice(id.lastIndexOf("/") + 1);
  // A flavor's "1" would be found in everything.
  if (bare.length > 3 || keep !== undefined)
    names.set(bare, keep ?? names.get(bare) ?? (name.includes("{p}") ? name : "id"));
  if (keep !== undefined) kept.set(keep, id);
}

/** Barbican's things have no id, but a URL that ends in one. */
const hrefOf = (fields: Readonly<Record<string, unknown>>) =>
  Object.entries(fields).find(([key]) => key.endsWith(" href"))?.[1];
