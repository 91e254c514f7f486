import { isIP, isIPv4, isIPv6 } from "node:net";

/** Whether a string has the form that a format names. Formats that are not here restrict nothing, as in Kubernetes. */
export function matchesFormat(format: string, value: string): boolean {
  const check = Object.hasOwn(STRING_FORMATS, format) ? STRING_FORMATS[format] : undefined;
  return check === undefined || check(value);
}

/** Whether a format is one that Kubernetes holds strings to; others say nothing. */
export function knownFormat(format: string | undefined): boolean {
  return format !== undefined && Object.hasOwn(STRING_FORMATS, format);
}

const DATE = /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2})[Tt](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):?[0-5]\d)$/;
const DURATION =
  /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h)(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))*$/;
const LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const HOST_LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/i;
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

const STRING_FORMATS: Readonly<Record<string, (value: string) => boolean>> = {
  "date-time": isDateTime,
  datetime: isDateTime,
  date: isDate,
  duration: (v) => v === "0" || DURATION.test(v) || /^\d+\s*(?:d|day|days|w|week|weeks)$/.test(v),
  byte: (v) => v.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(v),
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr: isCidr,
  mac: (v) =>
    /^[0-9a-f]{2}(?:([:-])[0-9a-f]{2})(?:\1[0-9a-f]{2}){4}$/i.test(v) || /^[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}$/i.test(v),
  uuid: (v) => UUID.test(v),
  uuid3: (v) => UUID.test(v) && v.replaceAll("-", "")[12] === "3",
  uuid4: (v) => UUID.test(v) && v.replaceAll("-", "")[12] === "4",
  uuid5: (v) => UUID.test(v) && v.replaceAll("-", "")[12] === "5",
  hostname: (v) =>
    v.length <= 253 &&
    v
      .replace(/\.$/, "")
      .split(".")
      .every((label) => HOST_LABEL.test(label)),
  email: (v) => /^[^\s@<>()[\]\\,;:]+@[^\s@]+$/.test(v),
  uri: isRequestUri,
  hexcolor: (v) => /^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(v),
  "k8s-short-name": (v) => LABEL.test(v),
  "k8s-long-name": (v) => v.length <= 253 && v.split(".").every((label) => LABEL.test(label)),
};

function isDate(value: string): boolean {
  const match = DATE.exec(value);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

function isDateTime(value: string): boolean {
  const match = DATE_TIME.exec(value);
  return match !== null && isDate(match[1] ?? "");
}

function isCidr(value: string): boolean {
  const slash = value.lastIndexOf("/");
  const [address, length] = [value.slice(0, slash), value.slice(slash + 1)];
  const family = isIP(address);
  return (
    slash > 0 && family !== 0 && /^(?:0|[1-9]\d{0,2})$/.test(length) && Number(length) <= (family === 4 ? 32 : 128)
  );
}

/** An absolute URI or an absolute path. */
function isRequestUri(value: string): boolean {
  if (/[\s\p{Cc}]/u.test(value)) return false;
  return value.startsWith("/") || (/^[a-z][a-z0-9+.-]*:/i.test(value) && URL.canParse(value));
}
