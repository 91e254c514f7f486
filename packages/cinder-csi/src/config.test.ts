import { cloudConfKeys } from "@causeway/openstack";
import { describe, expect, test } from "vitest";
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

test("cloud.conf for the Cinder driver reads [BlockStorage] and [Metadata], and ignores keys that it does not know", () => {
  expect(parseDriverConfig(conf)).toEqual({
    blockStorage: { ignoreVolumeAz: true, ignoreVolumeMicroversion: false },
    attachLimit: 300,
    rescanOnResize: false,
    metadataOrder: ["metadataService"],
    warnings: [],
  });
});

test("cloud.conf for the Cinder driver has upstream's defaults", () => {
  expect(parseDriverConfig("")).toMatchObject({
    attachLimit: undefined,
    metadataOrder: ["configDrive", "metadataService"],
  });
});

test("cloud.conf for the Cinder driver reads the cloud of each [Global] section", () => {
  expect(parseNamedCloud(conf, "").authUrl).toContain("one.example.com");
  expect(parseNamedCloud(conf, "second").authUrl).toContain("two.example.com");
  expect(() => parseNamedCloud(conf, "third")).toThrow(/no section \[Global "third"\]/);
});

describe("a warning about cloud.conf for the Cinder driver names", () => {
  test.each([
    ["a key of [Global]", "[Global]\nauth-ur = x", 'key auth-ur of [global] is not known; is "auth-url" meant?'],
    [
      "a key of a named cloud",
      '[Global "b"]\npasword = x',
      'key pasword of [global] is not known; is "password" meant?',
    ],
    ["a key like no other", "[Global]\nquuxquux = 1", "key quuxquux of [global] is not known"],
    [
      "a key of [BlockStorage]",
      "[BlockStorage]\nnode-volume-atach-limit = 5",
      'key node-volume-atach-limit of [blockstorage] is not known; is "node-volume-attach-limit" meant?',
    ],
    [
      "a key of [Metadata]",
      "[Metadata]\nsearch-oder = x",
      'key search-oder of [metadata] is not known; is "search-order" meant?',
    ],
    ["a section", "[BlockStorge]\nx = 1", 'section [blockstorge] is not known; is "blockstorage" meant?'],
  ])("%s", (_what, text, warning) => {
    const { warnings, attachLimit } = parseDriverConfig(text);
    expect(warnings).toEqual([warning]);
    expect(attachLimit).toBeUndefined();
  });

  test("no keys that earlier programs read, nor other programs' sections", () => {
    const others = ["Networking", "Route", "LoadBalancer", 'LoadBalancerClass "a"', "KeyManager"];
    const text = others.map((name) => `[${name}]\nother = 1\n`).join("");
    expect(parseDriverConfig(`[BlockStorage]\nbs-version = v2\n${text}`).warnings).toEqual([]);
  });

  test("nothing in a file with every key of [Global]", () => {
    const text = cloudConfKeys.map((key) => `${key} = x\n`).join("");
    expect(parseDriverConfig(`[Global]\n${text}`).warnings).toEqual([]);
  });
});

test("later files have priority over earlier ones", () => {
  expect(parseDriverConfig(`${conf}\n[BlockStorage]\nnode-volume-attach-limit = 5\n`).attachLimit).toBe(5);
});

test.each(["[BlockStorage]\nnode-volume-attach-limit = many", "[Metadata]\nsearch-order = disk"])(
  "cloud.conf for the Cinder driver refuses %j",
  (text) => {
    expect(() => parseDriverConfig(text)).toThrow(expect.objectContaining({ code: "CINDER_CSI_CONFIG_INVALID" }));
  },
);
