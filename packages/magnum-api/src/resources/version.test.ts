import { describe, expect, it } from "vitest";
import type { Api } from "../call/call.ts";
import { versionOf } from "./cluster-body.ts";

describe("the version of a new cluster", () => {
  it.each<[Api["runtime"], string | undefined, string]>([
    [undefined, undefined, "v1.34.0"],
    [undefined, "1.34.9", "v1.34.9"],
    ["Process", "v1.33.2", "v1.33.2"],
    ["Pods", "v1.33.2", "v1.33.2"],
    ["Process", "v1.34.4", "v1.34.4"],
  ])("with runtime %s and kube_tag %s is %s", (runtime, tag, version) => {
    const labels = tag === undefined ? {} : { kube_tag: tag };
    expect(versionOf({ defaultVersion: "v1.34.0", runtime }, labels)).toBe(version);
  });

  it.each<[Api["runtime"], string, Api["runtime"] | "none"]>([
    [undefined, "v1.33.2", "none"],
    ["Embedded", "v1.33.2", "none"],
    ["Process", "v1.32.2", "none"],
    // An upgrade is of the control plane that there is.
    ["Process", "v1.33.2", "Embedded"],
  ])("with runtime %s refuses %s on a control plane with %s", (runtime, tag, has) => {
    const api = { defaultVersion: "v1.34.0", runtime };
    expect(() => versionOf(api, { kube_tag: tag }, has === "none" ? undefined : has)).toThrow(/is not served/);
  });
});
