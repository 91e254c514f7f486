import { isDeepStrictEqual } from "node:util";
import type { Answer, Json, Raw, Target } from "../interface.ts";
import { DEFINITIONS, define } from "../cases/custom-resource.ts";
import { customKind, type CustomKind } from "./custom.ts";
import { knownRefusal } from "./known.ts";
import type { Operation } from "./operations.ts";
import { operationsOf, subjectsOf, type Sequence } from "./sequences.ts";
import type { Subject } from "./subject.ts";
import { Watches } from "./watches.ts";
import { World, type Request } from "./world.ts";

/** One server with a client. */
export interface Side {
  readonly target: Target;
  readonly api: Raw;
}

/** The real server and ours. */
export interface Pair {
  readonly theirs: Side;
  readonly ours: Side;
}

/** What the two do not agree about: one step of a sequence with both answers, normalised. */
export interface Difference {
  readonly step: string;
  readonly operation?: Operation;
  readonly request?: Request;
  readonly theirs: unknown;
  readonly ours: unknown;
  /** Everything that was requested before, oldest first. */
  readonly before: readonly Request[];
}

export interface Tally {
  operations: number;
  readonly known: Map<string, number>;
}

/** Runs sequences on both servers, each in a namespace of its own; custom kinds are made when one needs them. */
export class Runner {
  readonly tally: Tally = { operations: 0, known: new Map() };
  readonly #pair: Pair;
  readonly #seed: number;
  readonly #kinds = new Map<number, Promise<CustomKind>>();
  readonly #watches: { theirs: Watches; ours: Watches };
  #count = 0;

  constructor(pair: Pair, seed: number) {
    this.#pair = pair;
    this.#seed = seed;
    this.#watches = { theirs: new Watches(pair.theirs.api), ours: new Watches(pair.ours.api) };
  }

  /** Ends the watches that ran along. */
  async close(): Promise<void> {
    await Promise.all([this.#watches.theirs.close(), this.#watches.ours.close()]);
  }

  async run(sequence: Sequence): Promise<Difference | undefined> {
    this.#count += 1;
    const namespace = `s${this.#count}`;
    const { theirs, ours } = this.#pair;
    await Promise.all([prepare(theirs, namespace), prepare(ours, namespace)]);
    const custom = sequence.profile === "workloads" ? undefined : await this.#kind(sequence.custom);
    const subjects = subjectsOf(sequence, custom?.subject);
    const watches = Object.values(this.#watches);
    await Promise.all(subjects.flatMap((subject) => watches.map((w) => w.begin(subject))));
    const worlds = {
      theirs: new World({ ...theirs, watches: this.#watches.theirs }, namespace),
      ours: new World({ ...ours, watches: this.#watches.ours }, namespace),
    };
    const passage = new Passage(worlds, namespace, this.tally);
    for (const operation of operationsOf(sequence, subjects)) {
      const difference = await passage.step(operation);
      if (difference) return difference;
    }
    return passage.end(subjects);
  }

  #kind(number: number): Promise<CustomKind> {
    const known = this.#kinds.get(number);
    if (known) return known;
    const made = makeKind(this.#pair, this.#seed * 1000 + number, `k${number}.fuzz.example.com`);
    this.#kinds.set(number, made);
    return made;
  }
}

/** The custom kind of a number; where both servers refuse its CRD alike, the one of another number. */
async function makeKind({ theirs, ours }: Pair, number: number, group: string): Promise<CustomKind> {
  const kind = customKind(number, group);
  const trials = [theirs, ours].map(({ api }) => api.post(`${DEFINITIONS}?dryRun=All`, kind.definition));
  const [real, own] = await Promise.all(trials);
  if (real?.code !== own?.code) {
    const answers = [real, own].map((a) => `${a?.code} ${a?.text}`);
    throw new Error(`only one server accepts a CRD: ${JSON.stringify(kind.definition)}\n${answers.join("\n")}`);
  }
  if (real?.code !== 201) return makeKind({ theirs, ours }, number + 10_007, group);
  await Promise.all([theirs, ours].map(({ api }) => define(api, kind.definition as Json & { spec: Json })));
  return kind;
}

async function prepare({ api }: Side, namespace: string): Promise<void> {
  await api.post("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const root = `/api/v1/namespaces/${namespace}`;
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } };
  const roots = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "kube-root-ca.crt" } };
  await Promise.all([api.post(`${root}/serviceaccounts`, account), api.post(`${root}/configmaps`, roots)]);
}

function nameOf({ metadata }: Json): string {
  return String((metadata as Json)["name"]);
}

/** Made by controllers in one server and by hand in the other. */
const NOT_COMPARED = new Set(["kube-root-ca.crt", "default"]);

/** One sequence under way. */
class Passage {
  readonly #worlds: { theirs: World; ours: World };
  readonly #namespace: string;
  readonly #tally: Tally;
  readonly #before: Request[] = [];
  /** How often a name was given up: what controllers end is not comparable any more. */
  readonly #retired = new Map<string, number>();
  readonly #gone = new Set<string>();

  constructor(worlds: { theirs: World; ours: World }, namespace: string, tally: Tally) {
    this.#worlds = worlds;
    this.#namespace = namespace;
    this.#tally = tally;
  }

  async step(operation: Operation): Promise<Difference | undefined> {
    const { theirs, ours } = this.#worlds;
    const name = this.#nameOf(operation);
    const [real, own] = await Promise.all([theirs.perform(operation, name), ours.perform(operation, name)]);
    this.#tally.operations += 1;
    const seen: [unknown, unknown] = [
      this.#shown(theirs, operation, real.answers),
      this.#shown(ours, operation, own.answers),
    ];
    this.#retire(operation, name);
    const refusal = isDeepStrictEqual(...seen) ? undefined : knownRefusal(operation.subject.kind, ...seen);
    if (refusal !== undefined) {
      this.#count(refusal);
      this.#giveUp(operation, name);
      this.#before.push(real.request);
      return undefined;
    }
    const difference = this.#compare(`${operation.verb} ${operation.subject.kind}`, seen);
    this.#before.push(real.request);
    return difference && { ...difference, operation, request: real.request };
  }

  /** What is left of everything. */
  async end(subjects: readonly Subject[]): Promise<Difference | undefined> {
    for (const subject of new Set(subjects)) {
      const { theirs, ours } = this.#worlds;
      const answers = await Promise.all([theirs, ours].map((world) => world.get(world.collection(subject))));
      const seen = [theirs, ours].map((world, i) => this.#items(world, [answers[i] as Answer]));
      const difference = this.#compare(`final state of ${subject.kind}`, seen) ?? (await this.#compareWatches(subject));
      if (difference) return difference;
    }
    return undefined;
  }

  /** Compares the events of the watches of the kind, up to an object that is created to end them. */
  async #compareWatches(subject: Subject): Promise<Difference | undefined> {
    const { theirs, ours } = this.#worlds;
    const isMade = await Promise.all([theirs, ours].map((world) => world.finish(subject)));
    if (isMade.includes(false)) {
      this.#count(`the watch of a ${subject.kind} is not compared: none can be made to end it`);
      return undefined;
    }
    const events = await Promise.all(
      [theirs, ours].map(async (world) =>
        (await world.events(subject)).filter((e) => this.#isOwn(e["object"] as Json)),
      ),
    );
    const shown = [theirs, ours].map((world, i) => events[i]?.map((event) => world.normal.value(event)));
    return this.#compare(`watch of ${subject.kind}`, shown);
  }

  /** Of this sequence, and comparable. */
  #isOwn({ metadata }: Json): boolean {
    const { name, namespace } = metadata as Json;
    if (NOT_COMPARED.has(String(name)) || this.#gone.has(String(name))) return false;
    return namespace !== undefined || String(name).startsWith(`${this.#namespace}-`);
  }

  #nameOf({ subject, name }: Operation): string {
    const own = subject.namespaced ? name : `${this.#namespace}-${name}`;
    const times = this.#retired.get(`${subject.kind}/${own}`) ?? 0;
    return times === 0 ? own : `${own}-${times}`;
  }

  #retire(operation: Operation, used: string): void {
    const { verb, subject, body, query } = operation;
    const policy = (body as Json | undefined)?.["propagationPolicy"];
    const isEnded =
      subject.kind === "Namespace" || subject.kind === "Job" || policy === "Foreground" || policy === "Orphan";
    if (verb === "delete" && isEnded && query["dryRun"] === undefined) this.#giveUp(operation, used);
  }

  /** The name is used no more; a new one represents it from now on. */
  #giveUp({ subject, name }: Operation, used: string): void {
    const own = subject.namespaced ? name : `${this.#namespace}-${name}`;
    const key = `${subject.kind}/${own}`;
    this.#retired.set(key, (this.#retired.get(key) ?? 0) + 1);
    this.#gone.add(used);
  }

  #shown(world: World, { verb }: Operation, answers: readonly Answer[]): unknown {
    const [first] = answers;
    if ((verb === "list" || verb === "deletecollection") && first?.code === 200) return this.#items(world, answers);
    return answers.map((answer) => world.normal.answer(answer));
  }

  /** The items of all pages, but for those that are not this sequence's or not comparable. */
  #items(world: World, answers: readonly Answer[]): unknown {
    const failed = answers.find((a) => a.code !== 200);
    if (failed) return world.normal.answer(failed);
    const items = answers.flatMap((a) => (a.body["items"] ?? []) as Json[]);
    const kept = items.filter((item) => this.#isOwn(item));
    const { items: _, metadata: _m, ...list } = answers[0]?.body ?? {};
    // Names that a server made are in another order on each.
    const shown = (world.normal.value(kept) as Json[]).map((item) => ({ item, name: nameOf(item) }));
    return { list, items: shown.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(({ item }) => item) };
  }

  #compare(step: string, [theirs, ours]: readonly unknown[]): Difference | undefined {
    if (isDeepStrictEqual(theirs, ours)) return undefined;
    return { step, theirs, ours, before: [...this.#before] };
  }

  #count(reason: string): void {
    this.#tally.known.set(reason, (this.#tally.known.get(reason) ?? 0) + 1);
  }
}
