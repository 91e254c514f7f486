import { randomBytes } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { parse, stringify } from "yaml";
import { sweepProject } from "../support/project-sweep.ts";

/** A project of its own on the real OpenStack: what others do in theirs decides nothing. */
export interface Project {
  /** The entry of the clouds.yaml; that of an administrator has "-admin" behind it. */
  readonly entry: string;
  readonly cloud: Cloud;
  /** Another clouds.yaml, with the entries of this project. */
  readonly clouds: string;
  /** Deletes what is left in the project, the project and the file. */
  close(): Promise<void>;
  /** Closes its clients, and leaves the project as it is. */
  release(): Promise<void>;
}

/** What the user of the cloud's entry may do in its own project. */
const ROLES = ["member", "reader", "load-balancer_member", "creator"];

/**
 * Creates a project whose members are the users of this entry and of "ENTRY-admin" of OS_CLIENT_CONFIG_FILE, and writes
 * a clouds.yaml for it to `file`.
 */
export async function openProject(entry: string, file: string): Promise<Project> {
  const source = process.env["OS_CLIENT_CONFIG_FILE"] ?? "";
  const { clouds } = parse(readFileSync(source, "utf8")) as { clouds: Record<string, { auth: object }> };
  const [member, administrator] = [clouds[entry], clouds[`${entry}-admin`]];
  if (member === undefined || administrator === undefined)
    throw new Error(`${source} needs the entries ${entry} and ${entry}-admin`);
  const name = `nodes-${randomBytes(4).toString("hex")}`;
  const admin = connectCloud(loadCloudsYaml({ cloud: `${entry}-admin` }));
  const { id } = await admin.identity.projects.create({ name });
  const user = await userOf(entry);
  for (const role of await admin.identity.roles.all())
    if (ROLES.includes(role.name)) await admin.identity.grant({ project: id, user, role: role.id });
  const own = { ...member, auth: { ...member.auth, project_name: name } };
  writeFileSync(file, stringify({ clouds: { [name]: own, [`${name}-admin`]: administrator } }), { mode: 0o600 });
  const cloud = connectCloud(loadCloudsYaml({ cloud: name, path: file }));
  return {
    entry: name,
    cloud,
    clouds: file,
    async close() {
      await sweepProject(cloud, id);
      await cloud.close();
      await admin.identity.projects.delete(id);
      await admin.close();
      rmSync(file, { force: true });
    },
    async release() {
      await cloud.close();
      await admin.close();
    },
  };
}

async function userOf(entry: string): Promise<string> {
  const cloud = connectCloud(loadCloudsYaml({ cloud: entry }));
  try {
    return await cloud.identity.currentUserId();
  } finally {
    await cloud.close();
  }
}
