export { IPAddress, type IPAddressSpec } from "./ip-address.ts";
export { IPAddressClaim, type IPAddressClaimSpec, type IPAddressClaimStatus } from "./ip-address-claim.ts";
