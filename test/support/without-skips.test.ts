import { expect, test } from "vitest";
import { withoutSkips } from "./without-skips.ts";

const SOURCE = 'func TestOne(t *testing.T) {\n\tt.Skip("No clusters")\n\tt.Skip("Broken")\n\tcheck(t)\n}\n';

test("a skip for the reason is removed, and the line remains, so that failures name upstream's lines", () => {
  expect(withoutSkips(SOURCE, "No clusters")).toBe(
    'func TestOne(t *testing.T) {\n\t\n\tt.Skip("Broken")\n\tcheck(t)\n}\n',
  );
});

test("a skip for another reason remains", () => {
  expect(withoutSkips(SOURCE, "Other")).toBe(SOURCE);
});
