import { describe, expect, test } from "vitest";
import { dockerProblem, etcdProblem, removedAdmission, removedApis, versionProblem } from "./versions.ts";

describe("a cluster of Heat's driver", () => {
  test.for<[string, string | undefined]>([
    ["v1.34.4", undefined],
    ["v1.33.1", undefined],
    ["v1.32.9", "one minor version at a time: v1.33"],
    ["v1.31.0-rancher1", "one minor version at a time: v1.32, v1.33"],
    ["v1.35.0", "serves v1.33, v1.34"],
    ["", "of an unknown version"],
    ["v1.3", "v1.4, v1.5, v1.6"],
  ])('of version "%s" is named with the upgrades that it needs first', ([version, expected]) => {
    const problem = versionProblem(version);
    if (expected === undefined) expect(problem).toBeUndefined();
    else expect(problem).toContain(expected);
  });

  test("has each API named that its upgrades remove, and no other", () => {
    expect(removedApis("v1.24.1")).toMatch(/PodSecurityPolicy.*\(1\.25\).*v1beta3 \(1\.32\)/);
    expect(removedApis("v1.25.1")).not.toContain("PodSecurityPolicy");
    expect(removedApis("v1.34.4")).toBeUndefined();
    expect(removedApis("")).toBeUndefined();
  });

  test.for<[string, string, string | undefined]>([
    ["v1.23.3", "NodeRestriction,PodSecurityPolicy", "PodSecurityPolicy"],
    ["v1.27.0", "NodeRestriction, SecurityContextDeny", "1.30"],
    ["v1.34.4", "PodSecurityPolicy", undefined],
    ["v1.23.3", "", undefined],
  ])("with %s and admission plugins %s is migrated or refused", ([version, list, expected]) => {
    const problem = removedAdmission(version, { admission_control_list: list });
    if (expected === undefined) expect(problem).toBeUndefined();
    else expect(problem).toContain(expected);
  });

  test.for<[string, string | undefined, boolean]>([
    ["v1.23.3", undefined, true],
    ["v1.23.3", "host-docker", true],
    ["v1.23.3", "containerd", false],
    ["v1.24.0", undefined, false],
  ])("with %s and container runtime %s is migrated or refused", ([version, runtime, isRefused]) => {
    const labels = runtime === undefined ? {} : { container_runtime: runtime };
    expect(dockerProblem(version, labels) !== undefined).toBe(isRefused);
  });

  test.for<[string | undefined, boolean]>([
    ["v3.4.6", true],
    ["3.3.17", true],
    ["v3.5.9", false],
    ["v3.6.0", false],
    [undefined, false],
  ])("with etcd %s is migrated or refused", ([tag, isRefused]) => {
    expect(etcdProblem(tag === undefined ? {} : { etcd_tag: tag }) !== undefined).toBe(isRefused);
  });
});
