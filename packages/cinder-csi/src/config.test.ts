import { expect, test } from "vitest";
import { parseDriverConfig, parseNamedCloud } from "./config.ts";

const conf = `
[Global]
auth-url = https://one.example.com/v3
username = a
password = b
tenant-name = c
domain-name = d

[Global "second"]
auth-url = https://two.example.com/v3
application-credential-id = e
application-credential-secret = f

[BlockStorage]
node-volume-attach-limit = 300
ignore-volume-az = true
trust-device-path = false

[Metadata]
search-order = metadataService
`;

test("reads [BlockStorage] and [Metadata], and ignores keys that it does not know", () => {
  expect(parseDriverConfig(conf)).toEqual({
    blockStorage: { ignoreVolumeAz: true, ignoreVolumeMicroversion: false },
    attachLimit: 300,
    rescanOnResize: false,
    metadataOrder: ["metadataService"],
    warnings: [],
  });
});

test("has upstream's defaults", () => {
  expect(parseDriverConfig("")).toMatchObject({
    attachLimit: undefined,
    metadataOrder: ["configDrive", "metadataService"],
  });
});

test("reads the cloud of each [Global] section", () => {
  expect(parseNamedCloud(conf, "").authUrl).toContain("one.example.com");
  expect(parseNamedCloud(conf, "second").authUrl).toContain("two.example.com");
  expect(() => parseNamedCloud(conf, "third")).toThrow(/no section \[Global "third"\]/);
});

test("ignores unknown keys with a warning, and those of earlier programs without one", () => {
  const text =
    "[Global]\nquux = 1\n[BlockStorage]\nbs-version = v2\nnode-volume-atach-limit = 5\n[Networking]\nother = 1\n";
  const { warnings, attachLimit } = parseDriverConfig(text);
  expect(warnings).toEqual(["key node-volume-atach-limit of [blockstorage] is not known"]);
  expect(attachLimit).toBeUndefined();
});

test("later files have priority over earlier ones", () => {
  expect(parseDriverConfig(`${conf}\n[BlockStorage]\nnode-volume-attach-limit = 5\n`).attachLimit).toBe(5);
});

test.each(["[BlockStorage]\nnode-volume-attach-limit = many", "[Metadata]\nsearch-order = disk"])(
  "refuses %j",
  (text) => {
    expect(() => parseDriverConfig(text)).toThrow(expect.objectContaining({ code: "CINDER_CSI_CONFIG_INVALID" }));
  },
);
