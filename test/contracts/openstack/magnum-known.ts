import type { KnownDifference } from "./known.ts";

const defect: KnownDifference = {
  how: "answers with a refusal of 4xx that names the attribute, or accepts",
  why: "the real service fails with 500 at what a client sent, or shows Python's words for it: a defect of its own",
};
const kubernetesOnly: KnownDifference = {
  how: "names kubernetes as the only kind of orchestration",
  why: "later releases of Magnum removed the others",
};
const newer: KnownDifference = { how: "serves microversions up to 1.14", why: "the recorded release ends at 1.10" };
const words: KnownDifference = {
  how: "the refusal has a title and says why",
  why: "the real service leaves title and detail of what its routing refuses empty",
};
const policies: KnownDifference = {
  how: "follows the policies of 2023.2 and later: a reader changes nothing, an administrator changes every project's templates",
  why: "the recorded release lets every user of a project change it, and lets no administrator",
};
const markers: KnownDifference = {
  how: "continues after a marker that is not there any more",
  why: "a list remains whole while others delete what it passes",
};
const labels: KnownDifference = {
  how: "the message names the attribute labels",
  why: "labels as a Python literal are accepted in bodies, too, and labels as an object in patches",
};
const horizon: KnownDifference = {
  how: "an empty text counts as not given, and numbers as text are numbers",
  why: "Horizon sends every value as text",
};
const titles: KnownDifference = {
  how: "the title of a refusal is the whole first sentence",
  why: "the real service cuts it at the first full stop, within an address or a version, too",
};
const parsing: KnownDifference = {
  how: "says it in other words",
  why: "the recorded words are those of one version of Python or of a library, or their order changes from run to run",
};

/** Cases by group, and why they differ. */
const cases: Readonly<Record<string, readonly (readonly [KnownDifference, readonly string[]])[]>> = {
  "attributes of templates": [
    [titles, ['a create of a template checks dns_nameserver = "8.8.8.8,x"']],
    [
      kubernetesOnly,
      [
        'a create of a template checks coe = "swarm"',
        'a create of a template checks coe = "mesos"',
        'a create of a template checks coe = ""',
        "a create of a template checks coe = null",
        "a create of a template checks coe = 1",
      ],
    ],
    [
      defect,
      [
        "a create of a template checks image_id = null",
        "a create of a template checks docker_volume_size = true",
        'a create of a template checks labels = {"a":null}',
        'a create of a template checks labels = {"":"x"}',
        'a create of a template checks registry_enabled = "maybe"',
        'a create of a template checks registry_enabled = ""',
        'a create of a template checks tls_disabled = "maybe"',
        'a create of a template checks master_lb_enabled = "maybe"',
        'a create of a template checks floating_ip_enabled = "maybe"',
        "a create of a template checks floating_ip_enabled = 7",
        'a create of a template checks public = "maybe"',
      ],
    ],
    [
      { how: "accepts addresses of IPv6", why: "nodes may have such resolvers" },
      ['a create of a template checks dns_nameserver = "2001:db8::1"'],
    ],
    [
      { how: "names the driver cilium, too", why: "hosted clusters may have it" },
      ['a create of a template checks network_driver = "no-such-driver"'],
    ],
    [
      labels,
      [
        'a create of a template checks labels = "a=b"',
        "a create of a template checks labels = []",
        "a create of a template checks labels = 7",
      ],
    ],
    [parsing, ['a create of a template checks links = "x"']],
  ],
  templates: [
    [words, ["a path with a segment too many is not found", "a PUT of a template is rejected"]],
    [
      policies,
      [
        "a reader creates a template where the policy permits it",
        "a reader deletes a template where the policy permits it",
      ],
    ],
    [defect, ["a body that is a list creates no template", "a body that is a string creates no template"]],
    [
      { how: "refuses the method with 405", why: "the path has no such method" },
      ["a DELETE of all templates is rejected"],
    ],
  ],
  "patches of templates": [
    [
      { how: "shows when it was changed", why: "the real service shows what it was before the change" },
      ["the name of a template is replaced"],
    ],
    [
      parsing,
      [
        "labels that are no literal are rejected",
        "the links of a template are not replaced",
        "a path that is too deep is rejected",
      ],
    ],
    [horizon, ["a volume size in a string is replaced"]],
    [
      defect,
      [
        "a volume size that is no number is rejected",
        "a flag that is no boolean is rejected",
        "a patch that is a list of strings is rejected",
      ],
    ],
    [
      { how: "names the driver cilium, too", why: "hosted clusters may have it" },
      ["an unknown network driver is rejected"],
    ],
    [
      { how: "keeps the name", why: "clients find templates by their names" },
      ["a remove of the name keeps the template valid", "an empty list of operations changes nothing"],
    ],
  ],
  "publishing templates": [
    [
      policies,
      [
        "an administrator makes a template public",
        "another project is shown a public template",
        "another project does not change a public template",
        "an administrator hides a template",
        "an administrator makes a template private and visible",
        "a reader changes a template where the policy permits it",
      ],
    ],
    [labels, ["labels as an object in a patch are checked"]],
  ],
  "pages of templates": [
    [markers, ["GET /clustertemplates checks marker={nothing}"]],
    [{ how: "refuses to sort by it", why: "an object has no order" }, ["GET /clustertemplates checks sort_key=labels"]],
  ],
  versions: [
    [
      newer,
      [
        "GET /clustertemplates reads version 1.0",
        "GET /clustertemplates reads version 1.11",
        "GET /clustertemplates reads version 1.99",
        "GET /clustertemplates reads version 2.1",
        "GET /clustertemplates reads version latest",
      ],
    ],
    [
      { how: "accepts all names of the service", why: "later releases do" },
      [
        "GET /clustertemplates reads the service type container-infrastructure-management",
        "GET /clustertemplates reads the service type container-infrastructure",
      ],
    ],
    [
      words,
      [
        "the version of another service is rejected",
        "a version without a service is rejected",
        "an empty version header is rejected",
        "a version that is no number is rejected",
        "a version of three parts is rejected",
        "an unknown path is not found",
        "GET /nodegroups reads version 1.1",
        "GET /nodegroups reads version 1.3",
        "GET /nodegroups reads version 1.4",
        "GET /nodegroups reads version 1.6",
        "GET /nodegroups reads version 1.8",
      ],
    ],
  ],
  "quotas and statistics": [
    [
      defect,
      [
        "a quota without a project is not created",
        "an empty object creates no quota",
        "an all_tenants that is no flag is rejected",
      ],
    ],
  ],
  "clusters that are refused": [
    [markers, ["a list of clusters checks a missing marker"]],
    [labels, ['a create of a cluster checks labels = "a=b"', "a create of a cluster checks labels = []"]],
    [
      defect,
      [
        'a create of a cluster checks merge_labels = "maybe"',
        'a create of a cluster checks master_lb_enabled = "maybe"',
        'a create of a cluster checks floating_ip_enabled = "maybe"',
        "an empty signing request is rejected",
      ],
    ],
    [horizon, ['a create of a cluster checks keypair = ""', 'a create of a cluster checks flavor_id = ""']],
    [words, ["a resize is rejected at version 1.6"]],
  ],
};

/** By "service/group/case", as the other services' known differences. */
export const magnumDifferences: Readonly<Record<string, KnownDifference>> = Object.fromEntries(
  Object.entries(cases).flatMap(([group, known]) =>
    known.flatMap(([difference, all]) => all.map((each) => [`container-infra/${group}/${each}`, difference] as const)),
  ),
);
