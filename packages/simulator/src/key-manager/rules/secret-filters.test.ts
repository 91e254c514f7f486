import { expect, test } from "vitest";
import { testCloud } from "../../testing/kernel.ts";
import { isLike } from "./secret-filters.ts";
import { createKeyManagerService } from "../service.ts";

test("secrets are listed by bits, algorithm, mode, type and dates, and in the requested order", async () => {
  const cloud = testCloud((kernel) => [{ root: "/key-manager", service: createKeyManagerService(kernel) }]);
  const call = cloud.as("demo:creator");
  const path = "/key-manager/v1/secrets";
  const make = (secret: object) => call("POST", path, secret);
  await make({ name: "a", algorithm: "aes", bit_length: 192, mode: "cbc", expiration: "2100-01-01T00:00:00" });
  await make({ name: "b", algorithm: "des", bit_length: 256, mode: "ctr", secret_type: "opaque" });
  await make({ name: "c", secret_type: "passphrase" });
  const names = async (query: string) =>
    ((await call("GET", `${path}?${query}`)).body as { secrets: { name: string }[] }).secrets.map((s) => s.name);
  expect(await names("bits=192")).toEqual(["a"]);
  expect(await names("bits=x&sort=name:desc")).toEqual(["c", "b", "a"]);
  expect(await names("alg=AES")).toEqual(["a"]);
  expect(await names("mode=ctr")).toEqual(["b"]);
  expect(await names("secret_type=passphrase")).toEqual(["c"]);
  expect(await names("expiration=gt:2099-01-01T00:00:00")).toEqual(["a"]);
  expect(await names("expiration=gt:2099-01-01T00:00:00,lt:2099-06-01T00:00:00")).toEqual([]);
  expect((await names("created=gte:2020-01-01T00:00:00")).length).toBe(3);
  expect((await call("GET", `${path}?created=gt:x`)).status).toBe(400);
  expect((await call("GET", `${path}?sort=nothing`)).status).toBe(400);
});

test("a name may be a pattern of LIKE", () => {
  const like = ["abc", "ABC", "a%", "%c", "%b%", "a_c", "%", "%%c", "a%b%c"];
  expect(like.filter((pattern) => isLike("abc", pattern))).toEqual(like);
  expect(["ab", "b%", "a_", "_", "abcd", "%bx%"].filter((pattern) => isLike("abc", pattern))).toEqual([]);
  expect(isLike("a".repeat(5000), `${"%a".repeat(50)}b`)).toBe(false);
});
