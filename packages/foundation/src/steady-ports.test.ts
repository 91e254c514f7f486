import { expect, test } from "vitest";
import { steadyPorts } from "./steady-ports.ts";

test("a port that a server keeps is never one that the kernel gives to clients, nor a node port", () => {
  const lowest = steadyPorts(() => 0, 32_768);
  const highest = steadyPorts((below) => below - 1, 32_768);
  expect([lowest[0], highest[0]]).toEqual([16_384, 29_999]);
  expect(steadyPorts((below) => below - 1, 20_000)[0]).toBe(19_999);
});

test("there are some, and none where clients may have all", () => {
  const ports = steadyPorts(undefined, 32_768);
  expect(ports).toHaveLength(16);
  expect(ports.every((port) => port >= 16_384 && port < 30_000)).toBe(true);
  expect(steadyPorts().every((port) => port >= 16_384 && port < 30_000)).toBe(true);
  expect(steadyPorts(() => 0, 1024)).toEqual([]);
});
