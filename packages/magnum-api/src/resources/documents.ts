import { MAX_MINOR, MIN_MINOR } from "../call/version.ts";

/** "/": the versions that are served. */
export function rootDocument(origin: string): Readonly<Record<string, unknown>> {
  return {
    name: "OpenStack Magnum API",
    description: "Magnum is an OpenStack project which aims to provide container cluster management.",
    versions: [
      {
        id: "v1",
        links: [{ href: `${origin}/v1/`, rel: "self" }],
        status: "CURRENT",
        max_version: `1.${MAX_MINOR}`,
        min_version: `1.${MIN_MINOR}`,
      },
    ],
  };
}

const resources = ["clustertemplates", "clusters", "quotas", "certificates", "mservices", "stats", "federations"];

/** "/v1": the resources there are. */
export function versionDocument(origin: string): Readonly<Record<string, unknown>> {
  const links = (path: string) => [
    { href: `${origin}/v1/${path}`, rel: "self" },
    { href: `${origin}/${path}`, rel: "bookmark" },
  ];
  return {
    id: "v1",
    media_types: [{ base: "application/json", type: "application/vnd.openstack.magnum.v1+json" }],
    links: [
      { href: `${origin}/v1/`, rel: "self" },
      {
        href: "http://docs.openstack.org/developer/magnum/dev/api-spec-v1.html",
        rel: "describedby",
        type: "text/html",
      },
    ],
    ...Object.fromEntries(resources.map((name) => [name, links(`${name}/`)])),
    nodegroups: links("clusters/{cluster_id}/nodegroups"),
    credentials: links("credentials/"),
  };
}
