import { Command } from "@commander-js/extra-typings";
import { logLevelOption } from "../../../options/logging.ts";

/** The flags of `causeway run barbican-kms`. */
export type BarbicanKmsFlags = ReturnType<ReturnType<typeof options>["opts"]> & {
  readonly socketpath: string;
  readonly cloudConfig: string;
};

/** `causeway run barbican-kms`, with the flags of cloud-provider-openstack's plugin. */
export function barbicanKmsCommand(signal: AbortSignal) {
  return options()
    .addHelpText(
      "after",
      `
Examples:
  causeway run barbican-kms --socketpath /var/lib/kms/kms.sock --cloud-config /etc/kubernetes/cloud.conf --metrics-address 127.0.0.1:8787`,
    )
    .action(async (given, command) => {
      // Not required options: commander names a missing one before an unknown one, whose typo is why it is missing.
      const { socketpath, cloudConfig } = given;
      if (socketpath === undefined) return command.error(missing("--socketpath <path>"), MISSING);
      if (cloudConfig === undefined) return command.error(missing("--cloud-config <file>"), MISSING);
      await (await import("./action.ts")).barbicanKms({ ...given, socketpath, cloudConfig }, signal);
    });
}

const MISSING = { code: "commander.missingMandatoryOptionValue" };
const missing = (flags: string): string => `error: required option '${flags}' not specified`;

function options() {
  return new Command("barbican-kms")
    .description("KMS v2 plugin whose keys are in Barbican, in place of barbican-kms-plugin and with its flags.")
    .option("--socketpath <path>", "socket for the API server")
    .option("--cloud-config <file>", "cloud.conf with [Global] and, in [KeyManager], key-id")
    .option(
      "--metrics-address <address:port>",
      "serve /healthz (with Barbican's key), /livez and /metrics over HTTP on this address (default: not served)",
    )
    .option(
      "--read-upstream-data",
      "decrypt data of barbican-kms-plugin, which is not authenticated; remove the flag when all records are rewritten",
      false,
    )
    .addOption(logLevelOption("info"));
}
