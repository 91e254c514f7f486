import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import type { BenchCloud } from "../load-balancer/cloud.ts";
import { CAUSEWAY, launch, running, type Controller, type Side } from "../load-balancer/controllers.ts";

export interface StartFrom {
  readonly side: Side;
  readonly cloud: BenchCloud;
  /** Where the configuration and the log go. */
  readonly files: string;
  readonly kubeconfig: string;
  /** The upstream program. */
  readonly program: string;
}

/** Both read the same configuration file; neither is elected. */
export function startController({ side, cloud, files, kubeconfig, program }: StartFrom): Controller {
  const config = join(files, "ingress.yaml");
  const log = join(files, `${side}.log`);
  writeFileSync(config, configurationOf(cloud, kubeconfig), { mode: 0o600 });
  const child =
    side === "ours"
      ? launch(
          CAUSEWAY,
          ["run", "octavia-ingress", "--config", config, "--leader-elect=false", "--log-level=warn"],
          log,
        )
      : launch(program, ["--config", config], log);
  return running([child], log);
}

interface CloudsYaml {
  readonly clouds: { readonly simulator: { readonly auth: Readonly<Record<string, string>> } };
}

/** The simulator's demo account is no secret: its password is in its own clouds.yaml. */
export function configurationOf(cloud: BenchCloud, kubeconfig: string): string {
  const { auth } = (parse(cloud.simulator.cloudsYaml) as CloudsYaml).clouds.simulator;
  return stringify({
    "cluster-name": "bench",
    kubernetes: { kubeconfig },
    openstack: {
      "auth-url": cloud.simulator.authUrl,
      username: "demo",
      password: auth["password"],
      "project-name": "demo",
      "user-domain-name": "Default",
      "project-domain-name": "Default",
      region: "RegionOne",
    },
    octavia: {
      provider: cloud.provider.name,
      "subnet-id": cloud.subnet.id,
      "floating-network-id": cloud.externalId,
    },
  });
}
