import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { MigrationRecord } from "../../record/record.ts";
import { deleteStackProject, readStackProjects } from "./stack-projects.ts";

const [tenant, stack] = ["98396febd3694d8a9818c18e9a6943e9", "cecae336-dcb8-4747-b160-bb05c39ab7fa"];
const record = { inventory: { projectId: tenant, stacks: [{ id: stack, name: "web" }] } } as unknown as MigrationRecord;
const signal = AbortSignal.timeout(60_000);

let made = 0;
let simulator: Simulator;
let admin: Cloud;

beforeAll(async () => {
  simulator = await startSimulator();
  admin = connectCloud(loadCloudsYaml({ cloud: "simulator-admin", text: simulator.cloudsYaml }));
});
afterAll(async () => {
  await admin.close();
  await simulator.close();
});

const left = async () => {
  const [projects, users] = await Promise.all([admin.identity.projects.all(), admin.identity.users.all()]);
  return [...projects, ...users].map(({ id, name }) => `${name} ${id}`).toSorted();
};

/** As Heat makes it for a stack, with a user of its domain, and one of the operator's that may read it. */
async function makeProject(name: string, description: string) {
  const { identity } = admin;
  const domain = await identity.domains.create({ name: `heat-${(made += 1)}` });
  const project = await identity.projects.create({ name, description, domain_id: domain.id });
  const user = await identity.users.create({ name: `${name}-user`, domain_id: domain.id });
  const watcher = await identity.users.create({ name: `watcher-${made}` });
  const [role] = await identity.roles.all();
  for (const each of [user, watcher])
    await identity.grant({ project: project.id, user: each.id, role: role?.id ?? "" });
  return { project, user };
}

test("the project of an abandoned stack and its users in Heat's domain are deleted, and nothing else", async () => {
  const name = `${tenant}-${stack}`.slice(0, 64);
  await makeProject(`${name.slice(0, -1)}x`, "Heat stack user project");
  await makeProject(name, "a project that only has such a name");
  const before = await left();
  const { project, user } = await makeProject(name, "Heat stack user project");
  const found = await readStackProjects({ admin }, record, signal);
  expect(found).toEqual([{ id: project.id, name, users: [user.id] }]);
  if (found === "unknown") return;
  for (const one of found) await deleteStackProject({ admin }, one, signal);
  expect((await left()).filter((line) => !line.startsWith("watcher-"))).toEqual(
    before.filter((line) => !line.startsWith("watcher-")),
  );
  expect(await readStackProjects({ admin }, record, signal)).toEqual([]);
});

test("a project whose users are gone is found and deleted still", async () => {
  const { project, user } = await makeProject(`${tenant}-${stack}`.slice(0, 64), "Heat stack user project");
  await admin.identity.users.delete(user.id);
  const found = await readStackProjects({ admin }, record, signal);
  expect(found).toEqual([{ id: project.id, name: project.name, users: [] }]);
  if (found !== "unknown") for (const one of found) await deleteStackProject({ admin }, one, signal);
  expect(await readStackProjects({ admin }, record, signal)).toEqual([]);
});

test("without an administrator's cloud nothing is known of them", async () => {
  expect(await readStackProjects({}, record, signal)).toBe("unknown");
});

test("an account that may not list projects of other domains knows nothing of them", async () => {
  const member = connectCloud(loadCloudsYaml({ cloud: "simulator", text: simulator.cloudsYaml }));
  try {
    expect(await readStackProjects({ admin: member }, record, signal)).toBe("unknown");
  } finally {
    await member.close();
  }
});
