import type { OpenStackDeploymentSpec } from "@causeway/api";
import type { Secret } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { SPREAD_MINUTES } from "../credentials/keys-kept.ts";
import { spec } from "../testing/rendered.ts";
import { keysAfter, newKeys } from "./keys-secret.ts";
import { rotateTokenKeys } from "./rotation.ts";

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 1);
type TokenKeys = NonNullable<NonNullable<OpenStackDeploymentSpec["rotation"]>["tokenKeys"]>;

/** The keys that signing and verifying pods see, minute by minute. */
class Keys {
  readonly versions: { readonly minute: number; readonly keys: Readonly<Record<string, string>> }[] = [];
  #secret: Secret | undefined;
  rotations = 0;

  /** One minute of the operator. */
  pass(minute: number, tokenKeys: TokenKeys): void {
    const now = START + minute * MINUTE;
    const wanted = { ...spec, rotation: { tokenKeys } };
    const { steps } = rotateTokenKeys(wanted, { secret: this.#secret, name: "k", now });
    for (const step of steps) {
      const made =
        step.type === "create-keys"
          ? newKeys(step.staged, now)
          : step.type === "rotate-keys"
            ? keysAfter(this.#secret, step, now)
            : undefined;
      if (!made) throw new Error(`${step.type} made nothing`);
      this.#secret = {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "k", annotations: made.annotations },
        data: made.data,
      };
      this.versions.push({ minute, keys: made.data });
      this.rotations += Number(step.type === "rotate-keys");
    }
  }

  /** What a pod sees that has Secrets so many minutes late. */
  seen(minute: number, late: number): Readonly<Record<string, string>> {
    return (this.versions.findLast((each) => each.minute <= minute - late) ?? this.versions[0])?.keys ?? {};
  }

  signing(minute: number, late: number): string {
    const keys = this.seen(minute, late);
    return keys[String(Math.max(...Object.keys(keys).map(Number)))] ?? "";
  }
}

/** Tokens that some Keystone would reject although they live. */
function rejected(keys: Keys, minutes: number, lifetimeHours: number): string[] {
  const lates = [0, 1, SPREAD_MINUTES];
  const found: string[] = [];
  for (let minute = 0; minute <= minutes; minute++)
    for (const late of lates) {
      const key = keys.signing(minute, late);
      for (const age of [0, 1, 2, 3, 30, lifetimeHours * 60 - 1, lifetimeHours * 60])
        for (const verifies of lates)
          if (!Object.values(keys.seen(minute + age, verifies)).includes(key))
            found.push(`minute ${minute}, ${late} late: after ${age} by one that is ${verifies} late`);
    }
  return found.slice(0, 3);
}

describe("keys of tokens", () => {
  test.each([
    [{ everyMinutes: 1, lifetimeHours: 1 }, 180, 238],
    [{ everyMinutes: 1, lifetimeHours: 4 }, 300, 538],
    [{ everyMinutes: 2, lifetimeHours: 1 }, 180, 119],
    [{ everyMinutes: 45, lifetimeHours: 1 }, 300, 8],
    [{ everyHours: 1, lifetimeHours: 1 }, 300, 6],
    [{ everyHours: 12, lifetimeHours: 12 }, 2_200, 4],
  ] as const)("rotate %j, and no Keystone rejects a token that lives", (tokenKeys, minutes, rotations) => {
    const keys = new Keys();
    const last = minutes + tokenKeys.lifetimeHours * 60;
    for (let minute = 0; minute <= last; minute++) keys.pass(minute, tokenKeys);
    expect(rejected(keys, minutes, tokenKeys.lifetimeHours)).toEqual([]);
    expect(keys.rotations).toBe(rotations);
    expect(Object.keys(keys.versions.at(-1)?.keys ?? {}).length).toBeLessThan(250);
  });

  test("reject none while the time between rotations changes, shorter and longer", () => {
    const keys = new Keys();
    const times = [{ everyHours: 1 }, { everyMinutes: 1 }, { everyMinutes: 20 }, { everyMinutes: 2 }];
    for (let minute = 0; minute <= 900; minute++)
      keys.pass(minute, { ...(times[Math.floor(minute / 200)] ?? times[1]), lifetimeHours: 1 });
    expect(rejected(keys, 840, 1)).toEqual([]);
    expect(keys.rotations).toBeGreaterThan(300);
  });
});
