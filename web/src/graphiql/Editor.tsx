// The tab GraphiQL: the editor, told where the server is, what to open with and where to keep it.
import './workers';
import { useGraphiQL, useGraphiQLActions, useMonaco } from '@graphiql/react';
import { GraphiQL } from 'graphiql';
import { useEffect, useRef, useState } from 'react';
import 'graphiql/style.css';
import { learnAccess } from '../api/access';
import { useTypeChanges } from '../api/types';
import { useLoaded } from '../api/useLoaded';
import { EmptyStore } from '../explore/EmptyStore';
import icon from '../favicon.svg';
import { completeFromStore } from './completion';
import { EMPTY_TAB, readExamples } from './examples';
import { fetcher } from './fetcher';
import { takeHandover, useHandover } from './handover';
import { EXAMPLES_WITHOUT_DATA } from './sampleExamples';
import { typedRoots } from './readTypedExamples';
import { storage } from './storage';
import { correctTabRoles } from './tabRoles';

/**
 * GraphiQL shows its "Persist headers" switch but forgets it on reload unless told here.
 * Headers hold tokens, so they stay out of the browser's storage until somebody asks.
 */
const keepsHeaders = storage.getItem('graphiql:shouldPersistHeaders') === 'true';

/** Examples are shown where no tabs are kept. */
const visited = storage.getItem('graphiql:tabState') !== null;

/** The file's name is relative to this module, not to the page. */
const iconUrl = new URL(icon, import.meta.url).href;

export default function Editor() {
  const { data, error, loading, reload } = useLoaded('examples', readExamples);
  const [declined, setDeclined] = useState(false);
  const offering = data?.empty === true && !declined && !visited;
  useEffect(() => {
    if (offering) void learnAccess();
  }, [offering]);
  if ((!data && !error) || (loading && offering)) return <p className="notice">Loading GraphiQL …</p>;
  if (offering) {
    return (
      <main className="offer">
        <EmptyStore onStored={reload}>
          <p><button type="button" onClick={() => setDeclined(true)}>Open GraphiQL without data</button></p>
        </EmptyStore>
      </main>
    );
  }
  return (
    <GraphiQL
      fetcher={fetcher}
      storage={storage}
      defaultTabs={data?.tabs ?? EXAMPLES_WITHOUT_DATA}
      defaultQuery={EMPTY_TAB}
      defaultEditorToolsVisibility="variables"
      shouldPersistHeaders={keepsHeaders}
      showPersistHeadersSettings
      schemaDescription
    >
      <GraphiQL.Logo>
        <a className="phyllo-logo" href="schema.graphql" title="The schema as text">
          <img src={iconUrl} alt="" width="20" height="20" />
          Phyllo
        </a>
        <TabRoles />
        <HandedOver />
        <Completion />
        <FreshSchema />
      </GraphiQL.Logo>
    </GraphiQL>
  );
}

/** Corrects the roles of the tabs, once the editors are there. */
function TabRoles() {
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  useEffect(() => {
    const container = document.querySelector('.graphiql-container');
    return container && queryEditor ? correctTabRoles(container) : undefined;
  }, [queryEditor]);
  return null;
}

/** Opens a query that Explore hands over in a tab of its own, once the editors are there. */
function HandedOver() {
  const handover = useHandover();
  const { addTab } = useGraphiQLActions();
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const variableEditor = useGraphiQL((state) => state.variableEditor);
  useEffect(() => {
    if (!handover || !queryEditor || !variableEditor) return;
    takeHandover();
    addTab();
    queryEditor.setValue(handover.query);
    variableEditor.setValue(handover.variables ?? '');
  }, [handover, queryEditor, variableEditor, addTab]);
  return null;
}

/** Completion inside of strings, once Monaco is loaded. */
function Completion() {
  const monaco = useMonaco((state) => state.monaco);
  useEffect(() => (monaco ? completeFromStore(monaco) : undefined), [monaco]);
  return null;
}

/** Reads the schema again when the type of a collection has changed. */
function FreshSchema() {
  const changes = useTypeChanges();
  const { introspect } = useGraphiQLActions();
  const read = useRef(changes);
  useEffect(() => {
    if (changes === read.current) return;
    read.current = changes;
    void introspect();
    void typedRoots(true);
  }, [changes, introspect]);
  return null;
}
