// The operations of typed_relay.mjs, for Relay's compiler. Their names begin with that of this file.
import { graphql } from "relay-runtime";

graphql`
  query countriesOneQuery($key: ID!) {
    country(key: $key) { id name { common } area region rank }
  }
`;

graphql`
  query countriesAllQuery {
    countries(where: { region: { eq: Europe } }, orderBy: [{ key: DESC }]) { nodes { id area } }
  }
`;

graphql`
  query countriesListQuery {
    ...countriesPage
  }
`;

graphql`
  fragment countriesPage on Query
  @argumentDefinitions(count: { type: "Int", defaultValue: 1 }, cursor: { type: "String" })
  @refetchable(queryName: "countriesPageQuery") {
    countries(orderBy: [{ key: ASC }], first: $count, after: $cursor)
      @connection(key: "countriesPage_countries") {
      edges { node { id area neighbors { id name { common } } } }
    }
  }
`;

graphql`
  mutation countriesChangeMutation($area: Float!) {
    updateCountry(key: "FRA", patch: { area: $area }) { id area }
  }
`;

graphql`
  mutation countriesDeleteMutation($key: ID!) {
    deleteCountry(key: $key) { deletedId @deleteRecord }
  }
`;

graphql`
  subscription countriesLiveSubscription {
    country(key: "FRA") { id area }
  }
`;
