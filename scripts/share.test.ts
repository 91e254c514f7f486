import { afterEach, describe, expect, test, vi } from "vitest";
import { shareOf } from "./share.ts";

describe("a share of the test files", () => {
  afterEach(() => vi.unstubAllEnvs());

  test("two halves are the whole, and the file for every run is in both", () => {
    const share = (of: string) => {
      vi.stubEnv("CAUSEWAY_SHARE", of);
      return shareOf("test/openstack", ["demo.test.ts"]);
    };
    const [whole, one, other] = [share("1/1"), share("1/2"), share("2/2")];
    expect([...new Set([...one, ...other])].sort()).toEqual([...whole].sort());
    expect(one.filter((file) => other.includes(file))).toEqual(["test/openstack/demo.test.ts"]);
    expect(whole.length).toBeGreaterThan(4);
  });

  test("patterns of several folders are shared as one list, in the order of their names", () => {
    const share = (of: string) => {
      vi.stubEnv("CAUSEWAY_SHARE", of);
      return shareOf(["test/scenarios/**/*.test.ts", "test/faults"]);
    };
    const [whole, ...thirds] = [share("1/1"), share("1/3"), share("2/3"), share("3/3")];
    expect(thirds.flat().sort()).toEqual([...whole].sort());
    expect(whole.some((file) => file.startsWith("test/faults/"))).toBe(true);
    expect(whole.some((file) => file.startsWith("test/scenarios/"))).toBe(true);
  });
});
