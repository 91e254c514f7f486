import { InputError, messageOf, readTextFile } from "@causeway/foundation";

/** The text of the file of --cloud-config. @throws CLOUD_CONF_UNREADABLE */
export function readCloudConf(path: string): string {
  return read(path, {
    code: "CLOUD_CONF_UNREADABLE",
    what: "The cloud.conf",
    hint: "Specify the path of a file that this user may read with --cloud-config.",
  });
}

/** The text of the file of --config, as octavia-ingress-controller has it. @throws INGRESS_CONFIG_UNREADABLE */
export function readIngressConfig(path: string): string {
  return read(path, {
    code: "INGRESS_CONFIG_UNREADABLE",
    what: "The configuration file",
    hint: "Specify the path of a file that this user may read with --config.",
  });
}

interface Given {
  readonly code: "CLOUD_CONF_UNREADABLE" | "INGRESS_CONFIG_UNREADABLE";
  readonly what: string;
  readonly hint: string;
}

function read(path: string, { code, what, hint }: Given): string {
  try {
    return readTextFile(path);
  } catch (cause) {
    throw new InputError(code, `${what} ${path} cannot be read: ${messageOf(cause)}`, { cause, hint });
  }
}
