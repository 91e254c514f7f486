import { describe, expect, it } from "vitest";
import { Interests, portsDescribed, valuesOf } from "./interests.ts";

const key = (name: string) => ({ namespace: "default", name });

describe("Interests", () => {
  it("finds objects by any of the names of a resource, once each", () => {
    const interests = new Interests();
    interests.set(key("a"), ["net-1", "demo", undefined, ""]);
    interests.set(key("b"), ["on:net-1"]);
    expect(interests.of(valuesOf({ id: "net-1", name: "demo" }))).toEqual([key("a")]);
    expect(interests.of(valuesOf({ id: "port-1", name: "", network_id: "net-1" }))).toEqual([key("b")]);
  });

  it("distinguishes the description of a port from that of any other resource", () => {
    const interests = new Interests();
    interests.set(key("all"), ["of demo"]);
    interests.set(key("ports"), [portsDescribed("of demo")]);
    expect(interests.of(valuesOf({ id: "fip", description: "of demo" }))).toEqual([key("all")]);
    expect(interests.of(valuesOf({ id: "p", description: "of demo", device_owner: "" }))).toEqual([key("ports")]);
  });

  it("forgets what an object is no longer interested in", () => {
    const interests = new Interests();
    interests.set(key("a"), ["x"]);
    interests.set(key("a"), ["y"]);
    expect(interests.of(["x"])).toEqual([]);
    interests.clear(key("a"));
    expect(interests.of(["y"])).toEqual([]);
  });

  it("handles a change at a cost that does not depend on the number of objects", () => {
    const interests = new Interests();
    for (let i = 0; i < 10_000; i++) interests.set(key(`m${i}`), [`m${i}`, `m${i}-0`]);
    expect(interests.of(valuesOf({ id: "p", name: "m7-0", device_id: "srv" }))).toEqual([key("m7")]);
  });
});
