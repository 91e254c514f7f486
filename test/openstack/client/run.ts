import { setTimeout as sleep } from "node:timers/promises";
import { accounts, commandsOf, type Account, type Chapter, type Command } from "./chapter.ts";
import { addressesIn, told, type Told } from "./normal.ts";
import { ClientProcess, type Answer } from "./process.ts";

/** One command and what it told. */
export interface Line {
  readonly command: string;
  readonly told: Told;
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

/** Runs a chapter on a cloud, every line whatever the ones before it said. */
export async function runChapter(clients: CloudClients, chapter: Chapter, prefix: string): Promise<readonly Line[]> {
  const kept = new Map<string, string>();
  const names = new Map<string, string>();
  const known = { prefix, names, addresses: addressesIn(chapter.lines) };
  const perform = (command: Command) =>
    clients.run(
      command.account,
      command.words.map((word) => filled(word, prefix, kept)),
    );
  const lines: Line[] = [];
  for (const command of commandsOf(chapter.lines)) {
    if (command.words[0] === "settled") {
      await settled(clients, filled(command.words[1] ?? "", prefix, kept));
      continue;
    }
    const answer = await perform(command);
    learn(command, answer, { kept, names, prefix });
    lines.push({ command: command.text, told: told(answer, known, command.whole) });
  }
  for (const command of commandsOf(chapter.cleanup ?? "")) await perform(command);
  return lines;
}

/** Most looks at a server that has a task, half a second apart. */
const looks = 120;

async function settled(clients: CloudClients, server: string): Promise<void> {
  for (let look = 0; look < looks; look++) {
    const { out, code } = await clients.run("member", ["server", "show", server, "-c", "OS-EXT-STS:task_state"]);
    if (code !== 0 || /:\s*null/.test(out)) return;
    await sleep(500);
  }
}

const filled = (word: string, prefix: string, kept: ReadonlyMap<string, string>) =>
  word.replaceAll(/\{(\w+)\}/g, (whole, name: string) => (name === "p" ? prefix : (kept.get(name) ?? whole)));

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
  const id = fields["id"] ?? fields["ID"] ?? fields["uuid"];
  if (typeof id !== "string") return;
  const named = fields["name"];
  const name = typeof named === "string" ? named.replaceAll(prefix, "{p}") : "";
  names.set(id, keep ?? names.get(id) ?? (name.includes("{p}") ? name : "id"));
  if (keep !== undefined) kept.set(keep, id);
}
