import type { Suite } from "../suite.ts";

/** Images. */
export const suites: readonly Suite[] = [
  {
    name: "images",
    lines: `
      image create {p}-one --disk-format raw --container-format bare --property a=b --tag red --min-disk 1 --min-ram 64
      image show {p}-one
      image list --name {p}-one
      image list --long --name {p}-one
      image list --property a=b --name {p}-one
      image list --tag red
      image list --status queued --name {p}-one
      image list --private --name {p}-one
      image list --public --name {p}-one
      admin: image list --all --name {p}-one
      alt: image show {p}-one
      image set {p}-one --name {p}-uno --property c=d --tag blue --min-disk 2 --os-distro cirros
      image unset {p}-uno --property a --tag red
      image unset {p}-uno --property nothing
      image unset {p}-uno --tag nothing
      image show {p}-uno
      image set {p}-uno --public
      image set {p}-uno --community
      image show {p}-uno -c visibility
      image set {p}-uno --shared --protected
      image delete {p}-uno
      image set {p}-uno --unprotected
      image add project {p}-uno alt
      image add project {p}-uno alt
      image add project {p}-uno {p}-nothing
      image member list {p}-uno
      alt: image set {p}-uno --accept
      image member list {p}-uno
      alt: image member list {p}-uno
      image remove project {p}-uno alt
      image remove project {p}-uno alt
      image set {p}-uno --deactivate
      image save {p}-uno
      image create {p}-file --disk-format raw --container-format bare --file /etc/debian_version
      image show {p}-file -c size -c status -c checksum -c os_hash_algo
      image set {p}-file --deactivate
      image show {p}-file -c status
      image save {p}-file
      image set {p}-file --activate
      image show {p}-file -c status
      image create {p}-bad --disk-format nonsense
      image create {p}-bad --container-format nonsense
      image create {p}-bad --disk-format raw --container-format bare --min-disk -1
      image create {p}-bad --disk-format raw --container-format bare --id nonsense
      image create {p}-bad --disk-format raw --container-format bare --public
      image create {p}-bad --disk-format raw --container-format bare --property id=x
      image create {p}-bad --file /nonexistent/file
      admin: image create {p}-public --disk-format raw --container-format bare --public
      image set {p}-public --name x
      image delete {p}-public
      image show {p}-public -c visibility -c owner
      admin: image delete {p}-public
      image show cirros -c name -c status -c visibility -c disk_format -c container_format
      image set cirros --name x
      image show {p}-nothing
      image set {p}-nothing --name x
      image delete {p}-nothing
      image delete {p}-uno {p}-file
      image show {p}-uno
      all versions show --service image
    `,
    cleanup: `
      image set {p}-one --unprotected
      image set {p}-uno --unprotected
      image delete {p}-one
      image delete {p}-uno
      image delete {p}-bad
    `,
  },
];
