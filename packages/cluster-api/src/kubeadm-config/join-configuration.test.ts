import { createAuthority, publicKeyHash } from "@causeway/foundation";
import { expect, test } from "vitest";
import { pinsOf } from "./join-configuration.ts";

test("machines are given the pins of both authorities while one is rotated", async () => {
  const [one, two] = await Promise.all(
    ["a", "b"].map((commonName) => createAuthority({ commonName, lifetime: 3600_000 })),
  );
  const [first, second] = [one?.certificate ?? "", two?.certificate ?? ""];
  expect(pinsOf(first)).toEqual([publicKeyHash(first)]);
  expect(pinsOf(`${first}${second}`)).toEqual([publicKeyHash(first), publicKeyHash(second)]);
});
