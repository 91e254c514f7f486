import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { levelOf } from "./logging.ts";

/** Gives every command below a root that has --log-level `-v`, too, as kubectl and clusterctl have it. */
export function withVerbosity<C extends CommandUnknownOpts>(root: C): C {
  for (const command of root.commands) {
    const has = (flag: string) => command.options.some(({ long, short }) => long === flag || short === flag);
    if (has("--log-level") && !has("-v")) {
      command.option(
        "-v, --v <level>",
        "in place of --log-level: 0 for warnings, 1 to 3 for changes, 4 or more for debug",
      );
      command.on("option:v", (v: string) => command.setOptionValue("logLevel", levelOf({ v })));
    }
    withVerbosity(command);
  }
  return root;
}
