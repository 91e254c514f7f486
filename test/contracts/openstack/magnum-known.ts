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
  why: "a list stays whole while others delete what it passes",
};
const labels: KnownDifference = {
  how: "the message names the attribute labels",
  why: "labels as a Python literal are accepted in bodies, too, and labels as an object in patches",
};
const horizon: KnownDifference = {
  how: "an empty text counts as not given, and numbers as text are numbers",
  why: "Horizon sends every value as text",
};
const parsing: KnownDifference = {
  how: "says it in other words",
  why: "the recorded words are those of one version of Python or of a library, or their order changes from run to run",
};

/** Cases by group, and why they differ. */
const cases: Readonly<Record<string, readonly (readonly [KnownDifference, readonly string[]])[]>> = {
  "attributes of templates": [
    [kubernetesOnly, ['coe is "swarm"', 'coe is "mesos"', 'coe is ""', "coe is null", "coe is 1"]],
    [
      defect,
      [
        "image_id is null",
        "docker_volume_size is true",
        'labels is {"a":null}',
        'labels is {"":"x"}',
        'registry_enabled is "maybe"',
        'registry_enabled is ""',
        'tls_disabled is "maybe"',
        'master_lb_enabled is "maybe"',
        'floating_ip_enabled is "maybe"',
        "floating_ip_enabled is 7",
        'public is "maybe"',
      ],
    ],
    [{ how: "accepts addresses of IPv6", why: "nodes may have such resolvers" }, ['dns_nameserver is "2001:db8::1"']],
    [
      { how: "names the driver cilium, too", why: "hosted clusters may have it" },
      ['network_driver is "no-such-driver"'],
    ],
    [labels, ['labels is "a=b"', "labels is []", "labels is 7"]],
    [parsing, ['links is "x"']],
  ],
  templates: [
    [words, ["a field too many in the path", "a PUT"]],
    [policies, ["a reader creates one", "a reader deletes"]],
    [defect, ["a body that is a list", "a body that is text"]],
    [{ how: "refuses the method with 405", why: "the path has no such method" }, ["a DELETE of all"]],
  ],
  "patches of templates": [
    [{ how: "shows when it was changed", why: "the real service shows what it was before the change" }, ["a name"]],
    [parsing, ["labels that are no literal", "links", "a path too deep"]],
    [horizon, ["a size as text"]],
    [defect, ["a size that is none", "a flag that is none", "a list of text"]],
    [{ how: "names the driver cilium, too", why: "hosted clusters may have it" }, ["a network driver that is none"]],
    [{ how: "keeps the name", why: "clients find templates by their names" }, ["the name is removed", "no operations"]],
  ],
  "publishing templates": [
    [
      policies,
      [
        "the administrator makes it public",
        "another project sees it now",
        "another project changes it",
        "the administrator hides it",
        "the administrator takes both back",
        "a reader changes it",
      ],
    ],
    [labels, ["labels as an object"]],
  ],
  "pages of templates": [
    [markers, ["with marker={nothing}"]],
    [{ how: "refuses to sort by it", why: "an object has no order" }, ["with sort_key=labels"]],
  ],
  versions: [
    [newer, ["1.0", "1.11", "1.99", "2.1", "latest"]],
    [{ how: "accepts all names of the service", why: "later releases do" }, ["the long name", "the middle name"]],
    [
      words,
      [
        "another service",
        "no service",
        "nothing at all",
        "no number",
        "a number with three parts",
        "a path that is none",
        "nodegroups at 1.1",
        "nodegroups at 1.3",
        "nodegroups at 1.4",
        "nodegroups at 1.6",
        "nodegroups at 1.8",
      ],
    ],
  ],
  "quotas and statistics": [[defect, ["no project", "an empty body", "all_tenants that is no flag"]]],
  "clusters that are refused": [
    [markers, ["a marker that is not there"]],
    [labels, ['labels is "a=b"', "labels is []"]],
    [
      defect,
      ['merge_labels is "maybe"', 'master_lb_enabled is "maybe"', 'floating_ip_enabled is "maybe"', "signs nothing"],
    ],
    [horizon, ['keypair is ""', 'flavor_id is ""']],
    [words, ["resizes at 1.6"]],
  ],
};

/** By "service/group/case", as the other services' known differences. */
export const magnumDifferences: Readonly<Record<string, KnownDifference>> = Object.fromEntries(
  Object.entries(cases).flatMap(([group, known]) =>
    known.flatMap(([difference, all]) => all.map((each) => [`container-infra/${group}/${each}`, difference] as const)),
  ),
);
