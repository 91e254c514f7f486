import { andThen, type MaybePromise } from "../json/maybe-promise.ts";
import type { KubeObject } from "@causeway/kubernetes";
import { seenAll } from "../contract/resource.ts";
import { charged, type Call } from "../contract/call.ts";
import {
  isSingle,
  listedPage,
  placeOf,
  positionOf,
  readForms,
  single,
  textPage,
  type Listed,
  type PageQuery,
} from "./list.ts";

/** A part of a list: what is stored as JSON texts where that is what the called version shows, else objects. */
export type ListStep =
  | { readonly texts: readonly string[]; readonly objects?: undefined }
  | { readonly objects: readonly KubeObject[]; readonly texts?: undefined };

/** The metadata of a list: its revision, and where the next page starts. */
export type Position = Omit<Listed, "items">;

/**
 * Reads a list in steps, all at one revision, so that it is never in memory as a whole. Between two steps the store
 * keeps that revision readable; `close` must be called once.
 */
export class ListReader {
  readonly #call: Call;
  readonly #wantsTexts: boolean;
  readonly #place: PageQuery;
  /** Selected so far, for a limit. */
  #found = 0;
  #after: string | undefined;
  #revision: number | undefined;
  #release: (() => void) | undefined;
  #position: Position | undefined;

  /** `texts`: texts will do. Throws 400, 504 for a revision that is still to come. */
  constructor(call: Call, query: URLSearchParams, { texts }: { texts: boolean }) {
    this.#call = call;
    this.#wantsTexts = texts;
    this.#place = placeOf(call, query);
    this.#after = this.#place.after;
    this.#revision = this.#place.revision;
  }

  /** The metadata of the list, once its last step was read. */
  get position(): Position | undefined {
    return this.#position;
  }

  /** The metadata of the list while more is to be read: known where there is no limit, and so no next page. */
  get early(): Position | undefined {
    return this.#place.limit > 0 ? undefined : { resourceVersion: String(this.revision) };
  }

  /** The revision of the list, once its first step was read. */
  get revision(): number {
    return this.#revision ?? 0;
  }

  /** The next step, of about so many bytes of stored text. Throws 410 Expired. */
  next(bytes: number): MaybePromise<ListStep> {
    const { selection, after, revision } = this.#place;
    if (after === undefined && revision === undefined && this.#found === 0 && isSingle(this.#call, selection)) {
      return andThen(single(this.#call, selection), ({ items, ...position }) => {
        this.#revision = Number(position.resourceVersion);
        this.#position = position;
        return { objects: items };
      });
    }
    return this.#texts(bytes) ?? this.#objects(bytes);
  }

  close(): void {
    this.#release?.();
    this.#release = undefined;
  }

  #query(bytes: number): PageQuery & { bytes: number } {
    const { limit } = this.#place;
    const left = limit > 0 ? { limit: limit - this.#found } : {};
    return { ...this.#place, ...left, after: this.#after, revision: this.#revision, bytes };
  }

  #texts(bytes: number): ListStep | undefined {
    if (!this.#wantsTexts || !this.#place.selection.everything) return undefined;
    const page = textPage(this.#call, this.#query(bytes));
    if (!page) return undefined;
    this.#passed(page, page.texts.length);
    return { texts: page.texts };
  }

  #objects(bytes: number): MaybePromise<ListStep> {
    const page = listedPage(this.#call, this.#query(bytes));
    const shown = seenAll(
      this.#call,
      page.items.map(({ object }) => object),
    );
    const { everything, matches } = this.#place.selection;
    const take = (all: readonly KubeObject[]): ListStep => {
      const formed = readForms(this.#call, all);
      const objects = everything ? formed : formed.filter(matches);
      this.#passed(page, objects.length);
      return { objects };
    };
    return shown instanceof Promise ? shown.then((all) => charged(this.#call, () => take(all))) : take(shown);
  }

  #passed(
    page: { readonly revision: number; readonly next?: string; readonly remaining?: number },
    count: number,
  ): void {
    const { limit, selection } = this.#place;
    this.#found += count;
    this.#after = page.next;
    this.#revision = page.revision;
    if (page.next === undefined || (limit > 0 && this.#found >= limit)) {
      this.#position = positionOf(page, selection.everything);
      this.close();
    } else this.#release ??= this.#call.cluster.store.hold(page.revision);
  }
}
