/** The command lines of upstream's plugins run unchanged. */
import { describe, expect, test } from "vitest";
import { levelOf } from "../../../options/logging.ts";
import { runCinderCsi } from "../cinder-csi/action.ts";
import { cinderCsiCommand } from "../cinder-csi/command.ts";
import { runManilaCsi } from "../manila-csi/action.ts";
import { manilaCsiCommand } from "../manila-csi/command.ts";
import { servicesOf } from "./flags.ts";

const signal = new AbortController().signal;

function cinder(...args: readonly string[]) {
  const command = cinderCsiCommand(signal)
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  command.action(() => {}).parse(["--endpoint=unix:///csi/csi.sock", ...args], { from: "user" });
  return command.opts();
}

function manila(...args: readonly string[]) {
  const command = manilaCsiCommand(signal)
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  command.action(() => {}).parse(["--share-protocol-selector=NFS", ...args], { from: "user" });
  return command.opts();
}

const SHARED = [
  "--provide-controller-service=true",
  "--provide-node-service=false",
  "--with-topology=false",
  "--pvc-annotations=true",
  "--master=https://api.example.com",
  "--kubeconfig=/etc/kubeconfig",
  "--kube-api-qps=5",
  "--kube-api-burst=10",
  "--min-resync-period=12h",
  "--user-agent=a",
  "--user-agent=b",
];

test("every flag of cinder-csi-plugin is accepted, repeated ones in their order", () => {
  const flags = cinder(
    ...SHARED,
    "--cloud-config=/etc/a.conf",
    "--cloud-config=/etc/b.conf",
    "--cloud-name=one",
    "--cloud-name=two",
    "--additional-topology=rack=r1",
    "--cluster=prod",
    "--http-endpoint=:8080",
    "--nodeid=n",
    "--node-service-no-os-client=true",
    "-v=4",
  );
  expect(flags).toMatchObject({
    cloudConfig: ["/etc/a.conf", "/etc/b.conf"],
    cloudName: ["one", "two"],
    additionalTopology: ["rack=r1"],
    cluster: "prod",
    httpEndpoint: ":8080",
    provideNodeService: "false",
    withTopology: "false",
    pvcAnnotations: "true",
    userAgent: ["a", "b"],
  });
});

test("every flag of manila-csi-plugin is accepted", () => {
  const flags = manila(
    ...SHARED,
    "--endpoint=unix:///csi/csi.sock",
    "--drivername=nfs.manila.csi.openstack.org",
    "--cluster-id=prod",
    "--runtime-config-file=/etc/runtime.json",
    "--fwdendpoint=unix:///csi-nfs/csi.sock",
    "--compatibility-settings=a=b",
    "--nodeid=n",
    "--nodeaz=nova",
  );
  expect(flags).toMatchObject({
    drivername: "nfs.manila.csi.openstack.org",
    clusterId: "prod",
    runtimeConfigFile: "/etc/runtime.json",
    fwdendpoint: "unix:///csi-nfs/csi.sock",
  });
});

test("the defaults are upstream's, and an unknown flag is refused", () => {
  expect(cinder()).toMatchObject({
    withTopology: "true",
    provideControllerService: "true",
    provideNodeService: "true",
    pvcAnnotations: "false",
    cluster: "",
  });
  expect(manila()).toMatchObject({ drivername: "manila.csi.openstack.org", withTopology: "false", clusterId: "" });
  expect(() => cinder("--cloudconfig=/etc/a.conf")).toThrow(/unknown option/);
  expect(() => cinder("--with-topology=perhaps")).toThrow(/Allowed choices/);
});

test.each([
  ["", "warn"],
  ["0", "warn"],
  ["1", "info"],
  ["3", "info"],
  ["4", "debug"],
  ["6", "debug"],
])("-v=%s of upstream's manifests is log level %s", (level, expected) => {
  const { v } = cinder(`-v=${level}`);
  expect(levelOf({ v })).toBe(expected);
  expect(levelOf({ v: level })).toBe(expected);
  expect(levelOf({ v, logLevel: "error" })).toBe("error");
});

test.each(["abc", "=x", "-1", "1.5"])("-v %s is refused, as Go's programs refuse it", (v) => {
  expect(() => levelOf({ v })).toThrow(expect.objectContaining({ code: "FLAG_INVALID" }));
});

describe("the services", () => {
  const flags = { provideControllerService: "true", provideNodeService: "true" } as const;

  test("are upstream's two switches, or what --controller and --node name", () => {
    expect(servicesOf(flags)).toEqual(["controller", "node"]);
    expect(servicesOf({ ...flags, provideNodeService: "false" })).toEqual(["controller"]);
    expect(servicesOf({ ...flags, node: true })).toEqual(["node"]);
    const neither = { provideControllerService: "false", provideNodeService: "false" } as const;
    expect(() => servicesOf(neither)).toThrow(expect.objectContaining({ code: "FLAG_INVALID" }));
  });

  test("of a controller need a cloud.conf, and topology is KEY=VALUE", async () => {
    await expect(runCinderCsi(cinder(), signal)).rejects.toMatchObject({ code: "FLAG_INVALID" });
    const wrong = cinder("--node", "--additional-topology=rack");
    await expect(runCinderCsi(wrong, signal)).rejects.toThrow(/KEY=VALUE/);
    await expect(runCinderCsi(cinder("--cloud-config=/none/a.conf"), signal)).rejects.toMatchObject({
      code: "CLOUD_CONF_UNREADABLE",
    });
  });

  test("of manila-csi need a known protocol, and the node's the proxied driver", async () => {
    await expect(runManilaCsi(manila("--node"), signal)).rejects.toMatchObject({ code: "MANILA_CSI_FLAG_INVALID" });
    const unknown = manila("--controller", "--share-protocol-selector=SMB");
    await expect(runManilaCsi(unknown, signal)).rejects.toMatchObject({ code: "MANILA_CSI_FLAG_INVALID" });
    for (const name of ["Bad Name!", "-nfs", "a".repeat(64)]) {
      const wrong = manila("--controller", `--drivername=${name}`);
      await expect(runManilaCsi(wrong, signal)).rejects.toThrow(/driver name .* is not valid/);
    }
  });
});
