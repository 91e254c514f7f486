import type { Json, Raw, Watch } from "../interface.ts";
import { rootOf, type Subject } from "./subject.ts";

const TIMEOUT = 10_000;

/** The events of one watch, by the sequence that the objects belong to. */
interface Log {
  readonly watch: Watch;
  readonly events: Map<string, Json[]>;
  wake: () => void;
}

/**
 * Watches of one server, one of each kind in all namespaces, opened when a sequence needs them and kept until the end.
 */
export class Watches {
  readonly #api: Raw;
  readonly #logs = new Map<string, Promise<Log>>();

  constructor(api: Raw) {
    this.#api = api;
  }

  /** Starts the watch of the kind, if none runs yet. */
  async begin(subject: Subject): Promise<void> {
    await this.#log(subject);
  }

  /** The events about the objects of a sequence, oldest first, up to the one about `last`. */
  async take(subject: Subject, sequence: string, last: string): Promise<Json[]> {
    const log = await this.#log(subject);
    const received = (): Json[] => log.events.get(sequence) ?? [];
    const isOver = (): boolean => received().some((event) => nameOf(event) === last);
    const end = Date.now() + TIMEOUT;
    while (!isOver()) {
      if (Date.now() > end) throw new Error(`a watch of ${subject.plural} returned no event of ${last}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 250);
        log.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    const events = received();
    log.events.delete(sequence);
    return events.slice(
      0,
      events.findIndex((event) => nameOf(event) === last),
    );
  }

  async close(): Promise<void> {
    for (const log of await Promise.allSettled(this.#logs.values())) {
      if (log.status === "fulfilled") log.value.watch.close();
    }
  }

  #log(subject: Subject): Promise<Log> {
    const path = `${rootOf(subject.apiVersion)}/${subject.plural}`;
    const known = this.#logs.get(path);
    if (known) return known;
    const opened = this.#open(path);
    this.#logs.set(path, opened);
    return opened;
  }

  async #open(path: string): Promise<Log> {
    const { body } = await this.#api.get(`${path}?limit=1`);
    const from = String((body["metadata"] as Json)["resourceVersion"]);
    const events = new Map<string, Json[]>();
    const log: { wake: () => void } = { wake: () => {} };
    const watch = await this.#api.watch(`${path}?watch=1&resourceVersion=${from}`, (event) => {
      const sequence = sequenceOf(event);
      events.set(sequence, [...(events.get(sequence) ?? []), event]);
      log.wake();
    });
    return Object.assign(log, { watch, events });
  }
}

function metadataOf(event: Json): Json {
  return ((event["object"] as Json)["metadata"] ?? {}) as Json;
}

function nameOf(event: Json): string {
  return String(metadataOf(event)["name"]);
}

/** The namespace of an object is its sequence; without one its name begins with it. */
function sequenceOf(event: Json): string {
  const { namespace } = metadataOf(event);
  return typeof namespace === "string" ? namespace : (nameOf(event).split("-")[0] ?? "");
}
