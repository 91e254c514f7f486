import { connectCloud, loadCloudsYaml } from "@causeway/openstack";
import { inParallel } from "../in-parallel.ts";

const UNLIMITED = [
  "instances",
  "cores",
  "ram",
  "network",
  "subnet",
  "router",
  "port",
  "security_group",
  "security_group_rule",
  "floatingip",
] as const;
const ROLES: readonly string[] = ["member", "reader", "load-balancer_member"];
const AT_ONCE = 4;

/**
 * More projects of the simulated cloud, without limits, that its user demo is a member of: a clouds.yaml of each.
 * `cloudsYaml` is the simulator's own.
 */
export async function makeProjects(cloudsYaml: string, count: number): Promise<readonly string[]> {
  const config = loadCloudsYaml({ text: cloudsYaml, cloud: "simulator-admin" });
  const admin = connectCloud(config, { userAgent: "bench" });
  try {
    const [user] = await admin.identity.users.all({ name: "demo" });
    const roles = (await admin.identity.roles.all({})).filter(({ name }) => ROLES.includes(name));
    const names = Array.from({ length: count }, (_, i) => `customer-${i}`);
    const make = async (name: string): Promise<void> => {
      const project = await admin.identity.projects.create({ name, domain_id: "default" });
      for (const { id } of roles) await admin.identity.grant({ user: user?.id ?? "", project: project.id, role: id });
      await withoutLimits(cloudsYaml, name);
    };
    await inParallel(names, make, AT_ONCE);
    return names.map((name) => cloudsYaml.replaceAll("project_name: demo", `project_name: ${name}`));
  } finally {
    await admin.close();
  }
}

/** Takes the quotas off a project that the simulated cloud has. */
export async function withoutLimits(cloudsYaml: string, project: string): Promise<void> {
  const url = /auth_url: (\S+)/.exec(cloudsYaml)?.[1] ?? "";
  const limits = Object.fromEntries(UNLIMITED.map((resource) => [resource, -1]));
  const response = await fetch(`${new URL(url).origin}/_control/quotas`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ project, limits }),
  });
  if (!response.ok) throw new Error(`the cloud refused the quota: ${response.status} ${await response.text()}`);
}
