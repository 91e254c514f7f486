import { programFlags, type FlaggedProgram } from "@causeway/api";
import type { ApiServer } from "@causeway/apiserver";
import { describe, expect, test } from "vitest";
import { createEmbeddedRuntime } from "./embedded.ts";
import { flagArgs, withFlags, type ControlPlaneFlags } from "./flags.ts";
import type { ControlPlaneSpec } from "./runtime.ts";

describe("flags of a tenant", () => {
  test.each<[ControlPlaneFlags, FlaggedProgram, readonly string[]]>([
    [{}, "apiServer", []],
    [
      { apiServer: { eventTTLSeconds: 1_800, tlsMinVersion: "VersionTLS13" } },
      "apiServer",
      ["--event-ttl=1800s", "--tls-min-version=VersionTLS13"],
    ],
    [{ apiServer: { eventTTLSeconds: 1_800 } }, "controllerManager", []],
    [
      { apiServer: { enableAdmissionPlugins: ["AlwaysPullImages", "AlwaysPullImages"] } },
      "apiServer",
      ["--enable-admission-plugins=NodeRestriction,AlwaysPullImages"],
    ],
    [
      { apiServer: { serviceAccountExtendTokenExpiration: false } },
      "apiServer",
      ["--service-account-extend-token-expiration=false"],
    ],
    [{ apiServer: { serviceNodePortRange: "20000-22767" } }, "apiServer", ["--service-node-port-range=20000-22767"]],
    [
      { controllerManager: { terminatedPodGCThreshold: 50, nodeMonitorGracePeriodSeconds: 90 } },
      "controllerManager",
      ["--node-monitor-grace-period=90s", "--terminated-pod-gc-threshold=50"],
    ],
  ])("%j are those of the command line", (flags, program, args) => expect(flagArgs(program, flags)).toEqual(args));

  test.each<[string, unknown]>([
    ["anonymousAuth", false],
    ["constructor", 1],
    ["eventTTLSeconds", 0],
    ["eventTTLSeconds", "60s --audit-log-path=/etc/x"],
    ["eventTTLSeconds", Number.NaN],
    ["enableAdmissionPlugins", ["EventRateLimit"]],
    ["enableAdmissionPlugins", []],
    ["enableAdmissionPlugins", "AlwaysPullImages"],
    ["serviceNodePortRange", "22-65535"],
    ["serviceNodePortRange", "3000-2000"],
    ["serviceNodePortRange", "30000-99999"],
    ["tlsMinVersion", "VersionTLS10"],
    ["tlsMinVersion", null],
  ])("apiServer.%s = %j of a writer whom no schema checked is refused", (field, value) => {
    const flags = { apiServer: { [field]: value } } as ControlPlaneFlags;
    expect(() => flagArgs("apiServer", flags)).toThrow(expect.objectContaining({ code: "FLAG_NOT_ALLOWED" }));
  });

  test("are refused with an access list by the embedded runtime, before its server is called", async () => {
    const runtime = createEmbeddedRuntime({ apiServer: {} as ApiServer });
    const ensure = (changes: Partial<ControlPlaneSpec>) =>
      runtime.ensure({ id: "default.web", ...changes } as ControlPlaneSpec, new AbortController().signal);
    const flags = { apiServer: { eventTTLSeconds: 600 } };
    await expect(ensure({ flags })).rejects.toMatchObject({ code: "RUNTIME_HAS_NO_FLAGS" });
    const allowedCidrs = ["192.0.2.0/24"];
    await expect(ensure({ allowedCidrs })).rejects.toMatchObject({ code: "RUNTIME_HAS_NO_ACCESS_LIST" });
  });

  test("take the place of ours", () => {
    expect(withFlags(["--a=1", "--enable-x=N", "--b"], ["--enable-x=N,M"])).toEqual(["--a=1", "--b", "--enable-x=N,M"]);
  });

  test("none names a file, an address or who is believed", () => {
    const names = Object.values(programFlags).flatMap((rows) => rows.map(({ flag }) => flag));
    expect(new Set(names).size).toBe(names.length);
    const risky =
      /file|path|dir|config|url|address|bind|cert|key|auth|etcd|audit|proxy|cidr|profiling|feature|kube-api/;
    expect(names.filter((name) => risky.test(name))).toEqual([]);
  });
});
