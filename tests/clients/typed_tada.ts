// A program that uses gql.tada with the types of a collection. It is only compiled. No scalar is configured.
import { type ResultOf, type VariablesOf, graphql, readFragment } from "gql.tada";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const is = <T extends true>(): T | void => undefined;

const NAME = graphql(`
  fragment Name on Country { id name { common official } }
`);

const COUNTRY = graphql(
  `
    query Country($key: ID!) {
      country(key: $key) {
        ...Name
        key
        region
        area
        rank
        landlocked
        borders(first: 2)
        neighbors(first: 2) { key area }
        cities { name }
        languages(prefix: "f") { key value }
      }
    }
  `,
  [NAME],
);

type Country = NonNullable<ResultOf<typeof COUNTRY>["country"]>;
is<Equal<Country["key"], string>>();
is<Equal<Country["region"], "Africa" | "Asia" | "Europe">>();
is<Equal<Country["area"], number | null>>();
is<Equal<Country["rank"], number>>();
is<Equal<Country["landlocked"], boolean | null>>();
is<Equal<Country["borders"], string[] | null>>();
is<Equal<Country["neighbors"], ({ key: string; area: number | null } | null)[] | null>>();
is<Equal<Country["cities"], { name: string }[] | null>>();
is<Equal<Country["languages"], { key: string; value: string }[] | null>>();

export const named = (country: Country): string => {
  const { id, name } = readFragment(NAME, country);
  return `${id}: ${name.official ?? name.common}`;
};

const COUNTRIES = graphql(`
  query Countries($where: CountryFilter, $orderBy: [CountryOrderBy!]) {
    countries(where: $where, orderBy: $orderBy, first: 10) {
      nodes { key area }
      pageInfo { endCursor hasNextPage }
    }
  }
`);
export const where: VariablesOf<typeof COUNTRIES> = {
  where: { region: { in: ["Asia"] }, name: { common: { startsWith: "A" } }, area: { gt: 1 } },
  orderBy: [{ area: "DESC" }, { key: "ASC" }],
};
// @ts-expect-error: there is no such region
export const nowhere: VariablesOf<typeof COUNTRIES> = { where: { region: { eq: "Atlantis" } } };

const UPDATE = graphql(`
  mutation Update($key: ID!, $patch: CountryPatch!) {
    updateCountry(key: $key, patch: $patch) { id area }
  }
`);
export const patch: VariablesOf<typeof UPDATE> = {
  key: "FRA",
  patch: { area: null, languages: [{ key: "oci", value: "Occitan" }] },
};
// @ts-expect-error: an area is a number
export const wrong: VariablesOf<typeof UPDATE> = { key: "FRA", patch: { area: "large" } };

const CREATE = graphql(`
  mutation Create($country: CountryInput!) {
    createCountry(country: $country) { id }
  }
`);
// @ts-expect-error: the region is required
export const incomplete: VariablesOf<typeof CREATE> = { country: { name: { common: "Japan" }, rank: 5 } };
