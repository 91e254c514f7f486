import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectCloud, loadCloudsYaml } from "@causeway/openstack";
import { startSimulator } from "@causeway/simulator";
import { parse, stringify } from "yaml";
import { execute, launch } from "../programs/run.ts";
import { startServer } from "../programs/servers.ts";
import type { OrcPrograms } from "./programs.ts";
import { serveImages } from "./suites.ts";

export interface OrcPlace {
  /** The environment of kuttl and its commands. */
  readonly variables: Readonly<Record<string, string>>;
  /** Where the images are. */
  readonly images: string;
  readonly close: () => Promise<void>;
}

/** Milliseconds: the suites poll for statuses on the way. */
const delays = { "server.create": 500, "image.import": 200 };

/** An API server with the controller's CRDs, a cloud, and the controller's manager between them. */
export async function openPlace({ manager, kubectl, module }: OrcPrograms, dir: string): Promise<OrcPlace> {
  const server = await startServer("causeway");
  const simulator = await startSimulator({ delays, extensions: ["subnet-dns-publish-fixed-ip"] });
  const images = await serveImages(module);
  const closers: (() => Promise<void>)[] = [() => images.close(), () => simulator.close(), () => server.close()];
  const close = async (): Promise<void> => {
    for (const one of closers) await one();
  };
  try {
    const clouds = join(dir, "clouds.yaml");
    writeFileSync(clouds, await cloudsFor(simulator.cloudsYaml), { mode: 0o600 });
    const crds = ["apply", "--server-side", "-f", join(module, "config/crd/bases")];
    const env = { KUBECONFIG: server.kubeconfig };
    const { code, stderr } = await execute(join(kubectl, "kubectl"), crds, { env });
    if (code !== 0) throw new Error(`the CRDs of the controller: ${stderr}`);
    const running = launch(manager, ["--health-probe-bind-address=0"], { env });
    closers.unshift(() => running.stop());
    await running.until(/Starting workers/, 120_000);
    const variables = { ...env, E2E_KUTTL_OSCLOUDS: clouds, E2E_KUTTL_CACERT_OPT: "", E2E_KUTTL_FLAVOR: "m1.tiny" };
    return { variables: { ...variables, E2E_EXTERNAL_NETWORK_NAME: "public" }, images: images.url, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface CloudsYaml {
  readonly clouds: Readonly<Record<string, { readonly auth: object }>>;
}

/**
 * A clouds.yaml with the two entries that the suites name: a member of a project, and the administrator in the same
 * project.
 */
async function cloudsFor(text: string): Promise<string> {
  const cloud = connectCloud(loadCloudsYaml({ cloud: "simulator-admin", text }));
  const [roles, projects] = [await cloud.identity.roles.all(), await cloud.identity.projects.all()];
  const role = roles.find(({ name }) => name === "admin")?.id ?? "";
  const project = projects.find(({ name }) => name === "demo")?.id ?? "";
  await cloud.identity.grant({ project, user: await cloud.identity.currentUserId(), role });
  await cloud.close();
  const { clouds } = parse(text) as CloudsYaml;
  const [member, admin] = [clouds["simulator"], clouds["simulator-admin"]];
  if (!member || !admin) throw new Error("the simulated cloud's clouds.yaml does not have the entries it should have");
  const inProject = { ...admin, auth: { ...admin.auth, project_name: "demo" } };
  return stringify({ clouds: { openstack: member, "openstack-admin": inProject } });
}
