import { existsSync } from "node:fs";
import { join } from "node:path";

/** Where `causeway up` keeps its state unless it is given another folder. */
export const LOCAL_STATE = ".causeway";

/** The clouds.yaml of the simulated cloud that `causeway up` runs from this folder, where there is one. */
export function localCloudsYaml(): string | undefined {
  const local = join(LOCAL_STATE, "clouds.yaml");
  return existsSync(local) ? local : undefined;
}
