import { expect, test } from "vitest";
import type { DemoFollower } from "./follow.ts";
import { showProgress } from "./progress.ts";
import type { DemoView } from "./view.ts";

const item = (title: string) => ({ title, done: true, detail: "ready" });
const view = {
  exists: true,
  ready: true,
  network: item("network"),
  router: item("router"),
  securityGroups: item("security groups"),
  endpoint: item("API endpoint"),
  machines: [],
  wanted: 0,
  loadBalancer: item("load balancer"),
  application: item("application"),
  addon: item("add-on"),
} as unknown as DemoView;
const follower = { view, onChange: () => () => {}, until: () => Promise.resolve() } as unknown as DemoFollower;

test("a terminal whose width is not known gets lines, not a live display that breaks at each letter", async () => {
  let text = "";
  const stream = { isTTY: true, columns: 0, write: (part: string) => (text += part) } as unknown as NodeJS.WriteStream;
  await showProgress({ follower, signal: new AbortController().signal, unattended: false, stream });
  expect(text.split("\n").slice(0, 2)).toEqual(["network: ready", "router: ready"]);
  expect(text).not.toContain("\u001B");
});
