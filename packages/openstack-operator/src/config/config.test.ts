import { OPENSTACK_SERVICES, type OpenStackDeploymentSpec, type OpenStackRelease } from "@causeway/api";
import { describe, expect, test } from "vitest";
import { resolveCatalogue } from "../catalogue/index.ts";
import { completed } from "../credentials/new-values.ts";
import { checkConfiguration, configurations, merged, renderIni, type Facts } from "./index.ts";
import { SCHEMA_RELEASES } from "./schema.ts";

const everything = OPENSTACK_SERVICES.map((name) => ({ name, enabled: true }));

function factsOf(release: OpenStackRelease, more: Partial<OpenStackDeploymentSpec> = {}): Facts {
  const spec: OpenStackDeploymentSpec = {
    release,
    region: "RegionOne",
    domain: "cloud.example.org",
    nodeGroups: [
      {
        name: "all",
        nodeSelector: {},
        roles: ["Control", "Compute", "Network"],
        physicalNetworks: [{ name: "rack1", bridge: "br-ex", vlanRanges: ["100:199"] }],
      },
    ],
    services: everything,
    ...more,
  };
  const catalogue = resolveCatalogue(spec);
  const credentials = completed({ generation: 0, accounts: [0], values: {} }, catalogue.components);
  return { name: "cloud", namespace: "openstack", spec, catalogue, credentials, replicas: () => 3 };
}

describe("the configuration of every service", () => {
  const ceph = { ceph: { secret: { name: "ceph" } } };
  test.each(
    SCHEMA_RELEASES.flatMap(
      (release) =>
        [
          [release, "local storage"],
          [release, "Ceph"],
        ] as const,
    ),
  )("has only options of release %s, with %s", (release, storage) => {
    const facts = factsOf(release as OpenStackRelease, storage === "Ceph" ? { storage: ceph } : {});
    const problems = Object.entries(configurations).flatMap(([service, configure]) => {
      const { open, secret } = configure(facts);
      return checkConfiguration(facts.spec.release, service as "nova", merged(open, secret));
    });
    expect(problems).toEqual([]);
  });

  test.each(["2022.2", "2025.1"] as const)(
    "of release %s asks other services at their internal endpoints",
    (release) => {
      const facts = factsOf(release);
      // These check tokens, or are scoped without an endpoint.
      const others = ["keystone_authtoken", "service_user", "service_auth", "trustee"];
      const all = Object.entries(configurations).flatMap(([service, configure]) =>
        Object.entries(configure(facts).open)
          .filter(([section, options]) => options["auth_url"] !== undefined && !others.includes(section))
          .map(([section, options]) => [
            `${service} ${section}`,
            Object.values(options).some((value) => /internal/i.test(value.replace(/^https?:.*/, ""))),
          ]),
      );
      expect(all.length).toBeGreaterThan(6);
      expect(all.filter(([, isInternal]) => !isInternal)).toEqual([]);
    },
  );

  test("has every password in the part that becomes a Secret", () => {
    const facts = factsOf("2025.1");
    const secrets = Object.values(facts.credentials.values);
    for (const configure of Object.values(configurations)) {
      const text = renderIni(configure(facts).open);
      for (const secret of secrets) expect(text).not.toContain(secret);
    }
  });
});

describe("the check of a service's options", () => {
  const problem = (section: string, option: string, value: string) =>
    checkConfiguration("2025.1", "nova", { [section]: { [option]: value } }).map(({ message }) => message);

  test.each([
    ["oslo_messaging_rabbit", "rabbit_quorum_queues", "true", /did you mean rabbit_quorum_queue\?/],
    ["DEFAULT", "debugg", "true", /did you mean debug\?/],
    ["libvirrt", "virt_type", "kvm", /no section \[libvirrt\]; did you mean libvirt\?/],
    ["DEFAULT", "virt_type", "kvm", /it is in section \[libvirt\]/],
    ["DEFAULT", "debug", "maybe", /"maybe" is not a boolean; allowed: true, false/],
    ["DEFAULT", "osapi_compute_workers", "many", /"many" is not a whole number/],
    ["DEFAULT", "osapi_compute_workers", "0", /0 is less than 1/],
    ["DEFAULT", "metadata_listen_port", "70000", /70000 is more than 65535/],
    ["libvirt", "virt_type", "kwm", /"kwm" is not allowed; allowed: .*kvm/],
    ["DEFAULT", "my_ip", "a\n[evil]", /no line breaks/],
  ])("refuses [%s] %s = %s", (section, option, value, message) => {
    expect(problem(section, option, value)).toEqual([expect.stringMatching(message)]);
  });

  test.each([
    ["DEFAULT", "debug", "True"],
    ["DEFAULT", "osapi_compute_workers", "4"],
    ["libvirt", "virt_type", "kvm"],
    ["DEFAULT", "state_path", "$pybasedir/state"],
  ])("accepts [%s] %s = %s", (section, option, value) => {
    expect(problem(section, option, value)).toEqual([]);
  });

  test("knows each release's own options", () => {
    const found = (release: OpenStackRelease) =>
      checkConfiguration(release, "nova", { oslo_messaging_rabbit: { rabbit_transient_quorum_queue: "true" } });
    expect(SCHEMA_RELEASES.filter((release) => found(release as OpenStackRelease).length === 0)).toEqual([
      "2024.1",
      "2024.2",
      "2025.1",
    ]);
  });
});
