import fc from "fast-check";
import { expect, it } from "vitest";
import { nextLink, pageOf, readPage, type Listed } from "./page.ts";

interface Item {
  readonly id: string;
  readonly name: string;
}

const listed: Listed<Item> = { id: ({ id }) => id, what: "Cluster", keys: { name: ({ name }) => name } };
const uuidOf = (at: number): string => `01980000-0000-7000-8000-${at.toString(16).padStart(12, "0")}`;
/** Their names are not in the order of creation. */
const items: readonly Item[] = Array.from({ length: 1_500 }, (_, at) => ({
  id: uuidOf(at),
  name: `n${(at * 7919) % 1500}`,
}));
const deletions = fc.array(fc.array(fc.nat(items.length - 1), { maxLength: 80 }), { maxLength: 20 });

/** The ids of all pages, one after the other, as a client follows the links; after each page some items go. */
function walked(query: string, rounds: readonly (readonly number[])[]): readonly string[] {
  let [left, next]: [readonly Item[], string | undefined] = [items, query];
  const seen: string[] = [];
  for (let at = 0; next !== undefined; at++) {
    const page = readPage(new URLSearchParams(next));
    const ids = pageOf(left, page, listed).map(({ id }) => id);
    seen.push(...ids);
    next = nextLink("http://a", "clusters", page, ids).next?.split("?")[1];
    // The last item of a page is the marker of the next one: it goes in every other round.
    const marker = at % 2 === 0 ? [ids.at(-1)] : [];
    const gone = new Set([...(rounds[at] ?? []).map(uuidOf), ...marker]);
    left = left.filter(({ id }) => !gone.has(id));
  }
  return seen;
}

it("pages of 1,500 items that are deleted meanwhile show each that remains once, and none twice", () => {
  fc.assert(
    fc.property(deletions, fc.integer({ min: 20, max: 1_000 }), fc.boolean(), (rounds, limit, isDescending) => {
      const seen = walked(`limit=${limit}&sort_dir=${isDescending ? "desc" : "asc"}`, rounds);
      expect(new Set(seen).size).toBe(seen.length);
      const inOrder = isDescending ? seen.toSorted().toReversed() : seen.toSorted();
      expect(seen).toEqual(inOrder);
      const gone = new Set(rounds.flat().map(uuidOf));
      const missing = items.filter(({ id }) => !gone.has(id) && !seen.includes(id));
      expect(missing).toEqual([]);
    }),
    { numRuns: 30 },
  );
});

it("the pages of a list in the order of names show each item once", () => {
  const pages: string[] = [];
  let query: string | undefined = "limit=400&sort_key=name";
  while (query !== undefined) {
    const page = readPage(new URLSearchParams(query));
    const found = pageOf(items, page, listed);
    pages.push(...found.map(({ name }) => name));
    query = nextLink(
      "http://a",
      "clusters",
      page,
      found.map(({ id }) => id),
    ).next?.split("?")[1];
  }
  expect(pages).toEqual(items.map(({ name }) => name).toSorted());
});

it("a marker that is gone has no place in the order of names, and is refused with 404", () => {
  const page = readPage(new URLSearchParams(`sort_key=name&marker=${uuidOf(3)}`));
  expect(() =>
    pageOf(
      items.filter(({ id }) => id !== uuidOf(3)),
      page,
      listed,
    ),
  ).toThrow(/could not be found/);
});

it("a marker in upper case, or without dashes, is the item of that id, in the order of names, too", () => {
  const few = items.slice(0, 12);
  const after = (marker: string) =>
    pageOf(few, readPage(new URLSearchParams(`sort_key=name&marker=${marker}`)), listed).map(({ id }) => id);
  const id = uuidOf(10);
  expect(after(id).length).toBeGreaterThan(0);
  for (const marker of [id.toUpperCase(), id.replaceAll("-", "")]) expect(after(marker)).toEqual(after(id));
});
