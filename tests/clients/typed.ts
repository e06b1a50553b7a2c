// A TypeScript application that uses the types of a collection. It is only compiled. No scalar has a
// configured type.
import type { ResultOf, VariablesOf } from "@graphql-typed-document-node/core";
import { graphql } from "./gql";
import { CountryRegion, SortOrder } from "./gql/graphql";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const is = <T extends true>(): T | void => undefined;
/** A type without aliases and intersections. */
type Plain<T> = T extends (infer E)[] ? Plain<E>[] : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;

const COUNTRY = graphql(`
  query Country($key: ID!) {
    country(key: $key) {
      id
      key
      name { common official }
      region
      area
      rank
      landlocked
      borders(first: 2)
      cities { name }
      languages(prefix: "f") { key value }
    }
  }
`);

is<
  Equal<
    Plain<ResultOf<typeof COUNTRY>["country"]>,
    Plain<{
      __typename?: "Country";
      id: string;
      key: string;
      name: { __typename?: "CountryName"; common: string; official?: string | null };
      region: CountryRegion;
      area?: number | null;
      rank: number;
      landlocked?: boolean | null;
      borders?: Array<string> | null;
      cities?: Array<{ __typename?: "CountryCities"; name: string }> | null;
      languages?: Array<{
        __typename?: "CountryLanguagesEntry";
        key: string;
        value: string;
      }> | null;
    } | null | undefined>
  >
>();

const COUNTRIES = graphql(`
  query Countries($where: CountryFilter, $orderBy: [CountryOrderBy!]) {
    countries(where: $where, orderBy: $orderBy, first: 10) {
      nodes { key area }
      pageInfo { endCursor hasNextPage }
    }
  }
`);

const UPDATE = graphql(`
  mutation Update($key: ID!, $patch: CountryPatch!) {
    updateCountry(key: $key, patch: $patch) { id area }
  }
`);

const CREATE = graphql(`
  mutation Create($country: CountryInput!) {
    createCountry(country: $country) { id key }
  }
`);

export const where: VariablesOf<typeof COUNTRIES> = {
  where: { region: { in: [CountryRegion.Asia] }, name: { common: { startsWith: "A" } }, area: { gt: 1 } },
  orderBy: [{ area: SortOrder.Desc }, { key: SortOrder.Asc }],
};
export const areas = (data: ResultOf<typeof COUNTRIES>): number[] =>
  data.countries.nodes.flatMap((country) => country?.area ?? []);
export const patch: VariablesOf<typeof UPDATE> = {
  key: "FRA",
  patch: { area: null, languages: [{ key: "oci", value: "Occitan" }] },
};
export const created: VariablesOf<typeof CREATE> = {
  country: { name: { common: "Japan" }, region: CountryRegion.Asia, rank: 5 },
};
// @ts-expect-error: the region is required
export const incomplete: VariablesOf<typeof CREATE> = { country: { name: { common: "Japan" }, rank: 5 } };
// @ts-expect-error: an area is a number
export const wrong: VariablesOf<typeof UPDATE> = { key: "FRA", patch: { area: "large" } };
