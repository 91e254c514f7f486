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
});
