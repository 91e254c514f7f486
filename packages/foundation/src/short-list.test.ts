import fc from "fast-check";
import { expect, it } from "vitest";
import { shortened, shortList, type ShortList } from "./short-list.ts";

const names = ["a", "b", "c", "d"];

it.each<[title: string, of: readonly string[], most: number, options: ShortList | undefined, text: string]>([
  ["is empty without names", [], 3, undefined, ""],
  ["has every name when there are fewer than the limit", ["a", "b"], 3, undefined, "a, b"],
  ["has every name when there are as many as the limit", ["a", "b", "c"], 3, undefined, "a, b, c"],
  ["counts one name beyond the limit", names, 3, undefined, "a, b, c and 1 more"],
  ["counts all names beyond the limit", names, 1, undefined, "a and 3 more"],
  ["is a number with a limit of none", names, 0, undefined, "4 more"],
  ["separates the rest of a list of sentences too", names, 2, { separator: "; " }, "a; b; and 2 more"],
  ["counts up to the total of a list that was shortened before", ["a", "b"], 2, { total: 7 }, "a, b and 5 more"],
  ["has no rest when the total is what the list has", ["a", "b"], 2, { total: 2 }, "a, b"],
  ["says that the rest of a partial list is a minimum", names, 3, { isPartial: true }, "a, b, c and at least 1 more"],
  ["has no rest when a partial list fits", names, 4, { isPartial: true }, "a, b, c, d"],
])("a short list %s", (_, of, most, options, text) => {
  expect(shortList(of, most, options)).toBe(text);
});

it("shortened lines are the first ones and a line with the number of the others", () => {
  expect(shortened(names, 3)).toEqual(["a", "b", "c", "and 1 more"]);
  expect(shortened(names, 4)).toEqual(names);
  expect(shortened(["a"], 1, { total: 3 })).toEqual(["a", "and 2 more"]);
});

it("a short list has every entry by its name or in the number, whatever the limit", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("x", "y")), fc.nat({ max: 12 }), (entries, most) => {
      const lines = shortened(entries, most);
      const rest = Number(/^and (\d+) more$/.exec(lines.at(-1) ?? "")?.[1] ?? 0);
      const shown = rest === 0 ? lines : lines.slice(0, -1);
      expect(shown).toEqual(entries.slice(0, most));
      expect(shown.length + rest).toBe(entries.length);
    }),
  );
});
