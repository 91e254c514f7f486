import type { KubeObject } from "@causeway/kubernetes";
import { andThen, type MaybePromise } from "../json/maybe-promise.ts";
import type { Json } from "../json/json.ts";
import { apiVersionOf } from "../contract/resource.ts";
import type { Call } from "../contract/call.ts";
import { textHead } from "../registry/list.ts";
import { ListReader, type ListStep, type Position } from "../registry/reader.ts";
import { columnDefinitions, metadataOnly, row, type TableOptions } from "../tables/table.ts";
import { BodyStream } from "./body-stream.ts";
import { jsonForm, prettyForm, yamlForm, type Envelope, type ListForm } from "./list-form.ts";
import { refuseWrongNumber } from "./negotiate.ts";
import { isOver, nextTurn } from "./pace.ts";
import { sendText, type Wanted } from "./respond.ts";
import type { Response } from "../contract/exchange.ts";

/** What a list is read in, and what is sent in one piece. Bytes of stored text. */
const STEP = 256 * 1024;

/** A list request, and the form of the response to it. */
export interface ListAnswer {
  readonly call: Call;
  readonly query: URLSearchParams;
  readonly wanted: Wanted;
  /** How rows of a table are made; throws 400 for options that are none. */
  readonly tableOptions: () => TableOptions;
}

/**
 * Answers a list: in one piece if it is short, else as a stream at the pace of the client. Throws 400, 406, 410, 429,
 * 504.
 */
export function answerList(answer: ListAnswer, response: Response): MaybePromise<void> {
  const { call, query, wanted } = answer;
  const envelope = envelopeOf(answer);
  const form = formOf(wanted)(envelope);
  const isPlain = !wanted.table && !wanted.metadataOnly && !wanted.yaml && !wanted.pretty;
  const reader = new ListReader(call, query, { texts: isPlain });
  const pieces = new Pieces(call, envelope, form);
  return closing(reader, () =>
    andThen(reader.next(STEP), (step) => {
      pieces.add(step);
      if (reader.position) return answerWhole(form, { pieces, position: reader.position, wanted }, response);
      return answerLong(reader, { form, pieces, wanted }, response);
    }),
  );
}

/** Closes a reader when `work` has failed; the work closes it otherwise. */
function closing(reader: ListReader, work: () => MaybePromise<void>): MaybePromise<void> {
  try {
    const done = work();
    if (!(done instanceof Promise)) return done;
    return done.catch((error: unknown) => {
      reader.close();
      throw error;
    });
  } catch (error) {
    reader.close();
    throw error;
  }
}

interface Whole {
  readonly pieces: Pieces;
  readonly position: Position;
  readonly wanted: Wanted;
}

function answerWhole(form: ListForm, { pieces, position, wanted }: Whole, response: Response): void {
  const about = { isLate: false, isEmpty: pieces.isEmpty };
  const body = `${form.head(position)}${pieces.take()}${form.tail(position, about)}`;
  sendText(response, 200, { type: form.type, body, gzip: wanted.gzip });
}

interface Long {
  readonly form: ListForm;
  readonly pieces: Pieces;
  readonly wanted: Wanted;
}

/** Continues reading until the list ends, or what is to be sent is long. */
async function answerLong(reader: ListReader, { form, pieces, wanted }: Long, response: Response): Promise<void> {
  const { charge = <T>(work: () => T): T => work() } = response;
  const read = (): MaybePromise<void> =>
    andThen(
      charge(() => reader.next(STEP)),
      (step) => charge(() => pieces.add(step)),
    );
  while (!reader.position && pieces.size < STEP) {
    await nextTurn();
    if (isOver(response)) return reader.close();
    await read();
  }
  const { position } = reader;
  if (position) return charge(() => answerWhole(form, { pieces, position, wanted }, response));
  const stream = new BodyStream(response, { type: form.type, gzip: wanted.gzip });
  const first = reader.early;
  // The end of the response is observed on the response itself: the request counts as served once it has begun.
  void pour().catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));

  async function pour(): Promise<void> {
    try {
      await stream.write(charge(() => `${form.head(first)}${pieces.take()}`));
      while (!reader.position && !isOver(response)) {
        await nextTurn();
        await read();
        await stream.write(charge(() => pieces.take()));
      }
      if (reader.position) {
        await stream.write(form.tail(reader.position, { isLate: first === undefined, isEmpty: pieces.isEmpty }));
      }
      stream.end();
    } finally {
      reader.close();
    }
  }
}

/** Items that were read and are not sent yet. */
class Pieces {
  readonly #form: ListForm;
  readonly #envelope: Envelope;
  /** Items of built-in lists do not repeat their type. */
  readonly #skipped: number;
  #texts: string[] = [];
  #isFirst = true;
  size = 0;

  constructor(call: Call, envelope: Envelope, form: ListForm) {
    this.#form = form;
    this.#envelope = envelope;
    this.#skipped = call.resource.custom ? 0 : textHead(call).length;
  }

  add({ texts, objects }: ListStep): void {
    const made = texts
      ? this.#skipped === 0
        ? texts
        : texts.map((text) => `{${text.slice(this.#skipped)}`)
      : objects.map((object) => this.#form.text(this.#envelope.shown(object)));
    for (const text of made) {
      this.#texts.push(text);
      this.size += text.length;
    }
  }

  /** There was no item at all. */
  get isEmpty(): boolean {
    return this.#isFirst && this.#texts.length === 0;
  }

  take(): string {
    if (this.#texts.length === 0) return "";
    const text = this.#form.items(this.#texts, this.#isFirst);
    this.#isFirst = false;
    this.#texts = [];
    this.size = 0;
    return text;
  }
}

function formOf(wanted: Wanted): (envelope: Envelope) => ListForm {
  if (wanted.yaml) return yamlForm;
  return wanted.pretty ? prettyForm : jsonForm;
}

function envelopeOf({ call, wanted, tableOptions }: ListAnswer): Envelope {
  const { resource, version } = call;
  if (wanted.table) {
    const options = tableOptions();
    const fields = { kind: "Table", apiVersion: "meta.k8s.io/v1", columnDefinitions: columnDefinitions(options) };
    return { fields, key: "rows", shown: (object) => row(object, options) };
  }
  if (wanted.metadataOnly) {
    refuseWrongNumber(wanted.accept, { ...resource, isList: true });
    const fields = { kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1" };
    return { fields, key: "items", shown: metadataOnly };
  }
  const fields = { kind: resource.listKind, apiVersion: apiVersionOf(resource.group, version.name) };
  return { fields, key: "items", shown: resource.custom ? (object) => object : withoutType };
}

function withoutType(object: KubeObject): Json {
  const { apiVersion: _version, kind: _kind, ...rest } = object;
  return rest;
}
