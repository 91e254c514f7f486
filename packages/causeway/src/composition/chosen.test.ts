import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { chosenCloud, chosenCluster } from "./chosen.ts";

const folder = mkdtempSync(join(tmpdir(), "chosen-"));
const file = join(folder, "clouds.yaml");
const entry = (url: string) => `{auth: {auth_url: "${url}", username: u, password: p, project_name: p}}`;
writeFileSync(file, `clouds:\n  one: ${entry("https://one/v3")}\n  two: ${entry("https://two/v3")}\n`);
afterAll(() => rmSync(folder, { recursive: true }));

const OS_CLIENT_CONFIG_FILE = file;
const openrc = {
  OS_AUTH_URL: "https://env/v3",
  OS_USERNAME: "u",
  OS_PASSWORD: "p",
  OS_PROJECT_NAME: "p",
  OS_USER_DOMAIN_NAME: "Default",
  OS_PROJECT_DOMAIN_NAME: "Default",
};

describe("the cloud of a command", () => {
  test.each([
    ["the option before OS_CLOUD and openrc", { osCloud: "two" }, { ...openrc, OS_CLOUD: "one" }, "https://two/v3"],
    ["OS_CLOUD before openrc", {}, { ...openrc, OS_CLOUD: "one" }, "https://one/v3"],
    ["the variables of an openrc file", {}, openrc, "https://env/v3"],
    ["the same by the name that the openstack client has", { osCloud: "envvars" }, openrc, "https://env/v3"],
  ])("is %s", (_, place, env, url) => {
    expect(chosenCloud(place, { OS_CLIENT_CONFIG_FILE, ...env }).authUrl).toBe(url);
  });

  test("has its TLS from --insecure and --cacert", () => {
    const { tls } = chosenCloud({ osCloud: "one", insecure: true, cacert: "/ca.pem" }, { OS_CLIENT_CONFIG_FILE });
    expect(tls).toMatchObject({ verify: false, caFile: "/ca.pem" });
  });

  test("envvars without OS_AUTH_URL is refused as wrong input", () => {
    expect(() => chosenCloud({ osCloud: "envvars" }, {})).toThrow(
      expect.objectContaining({ code: "CLOUD_ENVIRONMENT_NOT_SET", exitStatus: 2 }),
    );
  });
});

test.each([
  [
    "named in the hint, where one runs",
    ".causeway/clouds.yaml",
    /^For the simulated cloud of this folder set OS_CLIENT_CONFIG_FILE=\.causeway\/clouds\.yaml\.$/,
  ],
  ["not named, where none runs", undefined, /^Download it/],
])("without a clouds.yaml the simulated cloud of this folder is %s", (_, local, hint) => {
  const missing = { OS_CLIENT_CONFIG_FILE: join(folder, "none.yaml") };
  const refused = expect.objectContaining({
    code: "CLOUDS_YAML_NOT_FOUND",
    exitStatus: 2,
    hint: expect.stringMatching(hint),
  });
  expect(() => chosenCloud({}, missing, () => local)).toThrow(refused);
});

describe("a kubeconfig that is not there", () => {
  const kubeconfig = join(folder, "none");
  test.for<[string, string | undefined, RegExp]>([
    ["names the option that gave it", "--source-kubeconfig", /^Specify the file with --source-kubeconfig\.$/],
    ["names --kubeconfig and KUBECONFIG by default", undefined, /--kubeconfig or KUBECONFIG/],
  ])("%s", ([, option, hint]) => {
    expect(() => chosenCluster({ kubeconfig }, option)).toThrow(
      expect.objectContaining({ code: "KUBECONFIG_NOT_FOUND", hint: expect.stringMatching(hint) as string }),
    );
  });
});
